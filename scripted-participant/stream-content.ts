/** Sends the messages of the streams active-contracts and updates. */
import type { JsonValue } from "../src/domain/json.js";
import type { Calls } from "./calls.js";
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
 * Sends updates up to the requested end, or until the stream ends. After updates that are not shown it sends an
 * OffsetCheckpoint, `calls.checkpointMs` later.
 */
export async function streamUpdates(calls: Calls, stream: Stream, body: JsonValue): Promise<void> {
  const request = updatesRequest(body);
  const view = calls.updates(request);
  for (const element of before(calls, request, view, stream.duplicates)) await stream.send(element);
  const { endInclusive } = request;
  let read = request.beginExclusive;
  let shown = read;
  while (endInclusive === undefined || read < endInclusive) {
    calls.checkUnpruned(read, endInclusive);
    const entries = calls.ledger.log.between(read, endInclusive, BATCH);
    for (const entry of entries) {
      read = entry.offset;
      const update = view(entry);
      if (update === undefined || ("OffsetCheckpoint" in update && stream.checkpointsWithheldMs > 0)) continue;
      const element: UpdatesElement = { update };
      await stream.send(element);
      shown = read;
    }
    if (entries.length > 0) continue;
    if (endInclusive !== undefined) return;
    const withinMs = Math.max(calls.checkpointMs, stream.checkpointsWithheldMs);
    const hasMoved = await moved(calls, stream, shown === read ? undefined : withinMs);
    if (stream.over.aborted) return;
    const last = calls.ledger.log.at(read);
    if (!hasMoved && last !== undefined && stream.checkpointsWithheldMs === 0) {
      await stream.send({ update: checkpoint(last) } satisfies UpdatesElement);
      shown = read;
    }
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

/** Resolves to true when the ledger has moved, and to false on timeout or when the stream ends. */
function moved(calls: Calls, stream: Stream, withinMs: number | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (hasMoved: boolean): void => {
      unlisten();
      clearTimeout(timer);
      stream.over.removeEventListener("abort", over);
      resolve(hasMoved);
    };
    const over = (): void => end(false);
    const unlisten = calls.ledger.log.listen(
      () => end(true),
      () => {},
    );
    const timer = withinMs === undefined ? undefined : setTimeout(end, withinMs, false);
    stream.over.addEventListener("abort", over);
    // The stream may have ended during the last send; no event follows then.
    if (stream.over.aborted) over();
  });
}
