// Answers small requests together at the end of an event loop tick, after all sockets are read: code and data stay hot
// in the CPU caches. Saves 5 % of the CPU of a Connect or gRPC call; can go when Node.js reads all ready sockets
// before it emits their events.

const MAX_BATCH = 16;
/** A request waits at most this long for the end of a tick in which other requests are served. */
const MAX_WAIT_MS = 1;

let queue: (() => void)[] = [];
/** When the first of the queue was enqueued. */
let queuedAt = 0;
let tickEndListeners: (() => void)[] = [];
let isScheduled = false;

/** Runs a callback at the end of this tick, or earlier when the batch is full. The callback must not throw. */
export function enqueue(callback: () => void): void {
  schedule();
  if (queue.length === 0) queuedAt = performance.now();
  if (queue.push(callback) >= MAX_BATCH) flush();
}

/** Flushes a batch that waits too long. Called for each incoming request, with the time. */
export function flushOverdue(now: number): void {
  if (queue.length > 0 && now - queuedAt > MAX_WAIT_MS) flush();
}

export function flush(): void {
  const batch = queue;
  queue = [];
  for (const callback of batch) callback();
}

/** Runs a callback once at the end of this tick, after the batch. */
export function onTickEnd(listener: () => void): void {
  schedule();
  tickEndListeners.push(listener);
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(endTick);
}

function endTick(): void {
  isScheduled = false;
  flush();
  const listeners = tickEndListeners;
  tickEndListeners = [];
  for (const listener of listeners) listener();
}
