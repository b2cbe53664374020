/** Sends the messages of the streams active-contracts and updates. */
import type { JsonValue } from "../../src/domain/json.js";
import type { Calls } from "./calls.js";
import { CheckpointClock } from "./checkpoints.js";
import type { UpdatesElement, UpdatesRequest } from "./messages.js";
import { activeContractsRequest, updatesRequest } from "./requests.js";
import type { Stream } from "./stream.js";
import { checkpoint, type View } from "./updates.js";

/** Entries read at once. Bounds the memory of a slow stream. */
const BATCH = 256;

/** Sends all elements. Throws a Refusal if the request is invalid. */
export async function streamActiveContracts(calls: Calls, stream: Stream, body: JsonValue): Promise<void> {
  const elements = calls.activeContracts(activeContractsRequest(body));
  for (const element of elements) await stream.send(element);
}

/**
 * Sends updates up to the requested end, or until the stream ends. What is not shown, and the further offsets of a
 * transaction, are told by the next OffsetCheckpoint only. A bounded stream has none.
 */
export async function streamUpdates(calls: Calls, stream: Stream, body: JsonValue): Promise<void> {
  const request = updatesRequest(body);
  const view = calls.updates(request);
  for (const element of before(calls, request, view, stream.duplicates)) await stream.send(element);
  const { endInclusive } = request;
  const { log } = calls.ledger;
  const clock = new CheckpointClock(calls.checkpointMs, stream);
  let read = request.beginExclusive;
  let told = read;
  while (endInclusive === undefined || read < endInclusive) {
    calls.checkUnpruned(read, endInclusive);
    const entries = log.between(read, endInclusive, BATCH);
    for (const entry of entries) {
      read = entry.offset;
      clock.moved();
      const update = view(entry);
      if (update === undefined || ("OffsetCheckpoint" in update && stream.checkpointsWithheldMs > 0)) continue;
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
function moved(calls: Calls, stream: Stream, withinMs: number | undefined): Promise<void> {
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
