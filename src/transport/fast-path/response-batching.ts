/**
 * A turn of the event loop: what has come by all connections is read first, and
 * small requests are answered behind that, one after the other. Between two
 * readings of sockets everything that answers a request has to be fetched anew into
 * the processor's caches; so it is fetched once for several.
 */

/** So many answers wait for each other at most. */
const MOST = 16;
/** None waits for longer, in milliseconds, when others come meanwhile that are answered while they are read. */
const LONGEST_MS = 1;

let answers: (() => void)[] = [];
/** Since when the first of them waits. */
let since = 0;
let ends: (() => void)[] = [];
let hasBegun = false;

/** Gives an answer at the end of this turn, or before, when enough others wait. It must not throw. */
export function enqueue(answer: () => void): void {
  begin();
  if (answers.length === 0) since = performance.now();
  if (answers.push(answer) >= MOST) flush();
}

/** To be called for each request that comes, with the time. */
export function flushOverdue(now: number): void {
  if (answers.length > 0 && now - since > LONGEST_MS) flush();
}

/** Gives all that wait. */
export function flush(): void {
  const all = answers;
  answers = [];
  for (const answer of all) answer();
}

/** Calls back at the end of this turn, behind the answers that wait. */
export function onTickEnd(end: () => void): void {
  begin();
  ends.push(end);
}

function begin(): void {
  if (hasBegun) return;
  hasBegun = true;
  setImmediate(finish);
}

function finish(): void {
  hasBegun = false;
  flush();
  const all = ends;
  ends = [];
  for (const end of all) end();
}
