/** The messages of the streams active-contracts and updates, on a real or a virtual clock, by way of sockets or not. */
import type { JsonValue } from "../../src/util/json.js";
import type { Calls } from "./calls.js";
import type { UpdatesElement, UpdatesRequest } from "./messages.js";
import { activeContractsRequest, updatesRequest } from "./requests.js";
import { checkpoint, type View } from "./updates.js";

/** Where the messages of a stream go. */
export interface Sink {
  /** Aborted when the stream has ended. */
  readonly over: AbortSignal;
  /** How many updates from before its begin offset it repeats. */
  readonly duplicates: number;
  /** Monotonic, in milliseconds. */
  readonly clock: () => number;
  send(message: object): void | Promise<void>;
}

/** Entries read at once. Bounds the memory of a slow stream. */
const BATCH = 256;

/** Sends all elements. Throws a Refusal if the request is invalid. */
export async function streamActiveContracts(calls: Calls, stream: Sink, body: JsonValue): Promise<void> {
  const elements = calls.activeContracts(activeContractsRequest(body));
  for (const element of elements) await stream.send(element);
}

/**
 * Sends updates up to the requested end, or until the stream ends. What is not shown, and the further offsets of a
 * transaction, are told by the next OffsetCheckpoint only. A bounded stream has none.
 */
export async function streamUpdates(calls: Calls, stream: Sink, body: JsonValue): Promise<void> {
  const request = updatesRequest(body);
  const view = calls.updates(request);
  for (const element of before(calls, request, view, stream.duplicates)) await stream.send(element);
  const { endInclusive } = request;
  const { log } = calls.ledger;
  const clock = new CheckpointClock(calls.serving.checkpointMs, stream.clock);
  let read = request.beginExclusive;
  let told = read;
  while (endInclusive === undefined || read < endInclusive) {
    calls.checkUnpruned(read, endInclusive);
    const entries = log.between(read, endInclusive, BATCH);
    for (const entry of entries) {
      read = entry.offset;
      clock.moved();
      const update = view(entry);
      if (update === undefined) continue;
      const element: UpdatesElement = { update };
      await stream.send(element);
      told = read;
    }
    if (read < (log.last?.offset ?? 0) && entries.length > 0) continue;
    if (endInclusive !== undefined) return;
    const dueMs = log.last && clock.dueMs(told < log.end);
    if (dueMs === 0 && log.last !== undefined) {
      const { last } = log;
      await stream.send({ update: checkpoint(last) } satisfies UpdatesElement);
      told = last.lastOffset;
      clock.sent();
    } else {
      await moved(calls, stream, dueMs);
    }
    if (stream.over.aborted) return;
  }
}

function before(calls: Calls, { beginExclusive }: UpdatesRequest, view: View, count: number): UpdatesElement[] {
  if (count === 0) return [];
  const updates = calls.ledger.log.between(0, beginExclusive).map(view);
  return updates
    .filter((update) => update !== undefined)
    .slice(-count)
    .map((update) => ({ update }));
}

/** Resolves when the ledger has moved, on timeout, or when the stream ends. */
function moved(calls: Calls, stream: Sink, withinMs: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      unlisten();
      clearTimeout(timer);
      stream.over.removeEventListener("abort", end);
      resolve();
    };
    const unlisten = calls.ledger.log.listen(end, () => {});
    const timer = withinMs === undefined ? undefined : setTimeout(end, withinMs);
    stream.over.addEventListener("abort", end);
    // The stream may have ended during the last send; no event follows then.
    if (stream.over.aborted) end();
  });
}

/**
 * When an OffsetCheckpoint is due, in milliseconds: after the stream has opened; the least time between two while the
 * ledger moves; after its last movement. As recorded: a real participant needs 0.6 to 6, 14 to 15, and 64 to 75 seconds.
 */
const REAL_TIMES = { opening: 600, traffic: 15_000, idle: 64_000 };

/** Given milliseconds replace all three. */
const checkpointTimes = (ms: number | undefined): typeof REAL_TIMES =>
  ms === undefined ? REAL_TIMES : { opening: ms, traffic: ms, idle: ms };

class CheckpointClock {
  readonly #times: typeof REAL_TIMES;
  readonly #now: () => number;
  readonly #opened: number;
  #sent: number | undefined;
  #moved: number | undefined;

  constructor(ms: number | undefined, now: () => number) {
    this.#times = checkpointTimes(ms);
    this.#now = now;
    this.#opened = now();
  }

  moved(): void {
    this.#moved = this.#now();
  }

  sent(): void {
    this.#sent = this.#now();
    this.#moved = undefined;
  }

  /** Milliseconds until a checkpoint is due; undefined for none until the ledger moves. */
  dueMs(isBehind: boolean): number | undefined {
    const due = this.#due(isBehind);
    return due === undefined ? undefined : Math.max(0, Math.ceil(due - this.#now()));
  }

  #due(isBehind: boolean): number | undefined {
    const { opening, traffic, idle } = this.#times;
    if (this.#sent === undefined) return this.#opened + opening;
    if (!isBehind || this.#moved === undefined) return undefined;
    // Only a movement of the ledger makes a stream look for a checkpoint, or else its idle time.
    const byTraffic = this.#sent + traffic;
    return this.#moved >= byTraffic ? byTraffic : this.#moved + idle;
  }
}
