/** What the two streams send: active-contracts, which ends, and updates, which may not. */
import type { JsonValue } from "../src/domain/json.js";
import type { Calls } from "./calls.js";
import type { UpdatesElement, UpdatesRequest } from "./messages.js";
import { activeContractsRequest, updatesRequest } from "./requests.js";
import type { Stream } from "./stream.js";
import { checkpoint, type View } from "./updates.js";

/** Entries that are read at once: a stream that is slow holds no more than these. */
const BATCH = 256;

/** Sends all elements. Throws a Refusal where the request is refused. */
export async function streamActiveContracts(calls: Calls, stream: Stream, body: JsonValue): Promise<void> {
  const elements = calls.activeContracts(activeContractsRequest(body));
  for (const element of elements) await stream.send(element);
}

/**
 * Sends updates up to the end that was asked for, or until the stream is over.
 * Where the ledger end has moved by updates that are not shown, an open stream
 * is told by a checkpoint, `calls.checkpointMs` later.
 */
export async function streamUpdates(calls: Calls, stream: Stream, body: JsonValue): Promise<void> {
  const request = updatesRequest(body);
  const view = calls.updates(request);
  for (const element of before(calls, request, view, stream.duplicates)) await stream.send(element);
  const { endInclusive } = request;
  let read = request.beginExclusive;
  let told = read;
  while (endInclusive === undefined || read < endInclusive) {
    calls.checkUnpruned(read, endInclusive);
    const entries = calls.ledger.log.between(read, endInclusive, BATCH);
    for (const entry of entries) {
      read = entry.offset;
      const update = view(entry);
      if (update === undefined) continue;
      const element: UpdatesElement = { update };
      await stream.send(element);
      told = read;
    }
    if (entries.length > 0) continue;
    // An end between two offsets has no entry of its own.
    if (endInclusive !== undefined) return;
    const hasMoved = await moved(calls, stream, told === read ? undefined : calls.checkpointMs);
    if (stream.over.aborted) return;
    const last = calls.ledger.log.at(read);
    if (!hasMoved && last !== undefined) {
      await stream.send({ update: checkpoint(last) } satisfies UpdatesElement);
      told = read;
    }
  }
}

/** The last updates at or before the begin, as many as asked for. */
function before(calls: Calls, { beginExclusive }: UpdatesRequest, view: View, count: number): UpdatesElement[] {
  if (count === 0) return [];
  const updates = calls.ledger.log.between(0, beginExclusive).map(view);
  return updates
    .filter((update) => update !== undefined)
    .slice(-count)
    .map((update) => ({ update }));
}

/** Tells true when the ledger has moved, and false when a time has passed or the stream is over. */
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
    // It may have ended while the last entry was being sent: then no event comes any more.
    if (stream.over.aborted) over();
  });
}
