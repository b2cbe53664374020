/** The mirror of a recorded participant: what it holds in the end. The scripted participant has the rest. */
import { expect, onTestFinished, test } from "vitest";
import { bodyOf } from "../../src/domain/contract.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { until } from "../fixtures/wait.js";
import { startMirror } from "../ingest/mirror/run-mirror.js";
import { type CreatedEvent, exchange, participantRecording } from "./recordings.js";
import { replay } from "./replay.js";

const { http, ws } = participantRecording();
const active = exchange(ws, "active contracts");
/** Without a requested end the stream stays open. */
const { messages: updates } = exchange(ws, "updates, live, with an idle time");

/** The recorded active contracts: a factory and a credential. */
const recorded = active.messages.map((message) => {
  const { contractEntry } = message as {
    readonly contractEntry: { readonly JsActiveContract: { createdEvent: CreatedEvent; synchronizerId: string } };
  };
  const { createdEvent, synchronizerId } = contractEntry.JsActiveContract;
  const { contractId, templateId, createArgument, createdEventBlob = "", createdAt } = createdEvent;
  return { contractId, templateId, createArgument, createdEventBlob, createdAt, synchronizerId };
});

// At the end of the recording a snapshot has all; before the first creation it is empty, and the updates follow.
test.each([
  ["a snapshot", 39, active.messages, []],
  ["the updates that created and archived them", 24, [], updates],
])("holds the active contracts after %s", async (_after, end, snapshot, following) => {
  const { url } = await replay({
    stream: ({ path }) =>
      path === "/v2/updates" ? { messages: following } : { messages: snapshot, close: { code: 1000, reason: "" } },
    http: ({ path }) =>
      path === "/v2/state/ledger-end"
        ? { ...exchange(http, "ledger end"), response: { offset: end } }
        : exchange(http, "pruned offsets"),
  });
  // Limits that no test reaches: what is not ready with them is so at once.
  const mirror = startMirror(url.href, ["registrar::1220"], undefined, {
    unreadyAfter: 3_600_000,
    staleAfter: 7_200_000,
  });
  onTestFinished(() => mirror.stop());
  const reached = following.length === 0 ? end : 34;
  await until(`the mirror is at offset ${reached}`, () => mirror.lag.status.offset === reached);
  // It is confirmed by a snapshot. Updates are followed by a look at the ledger's end.
  expect(snapshot.length === 0 ? undefined : mirror.lag.notReadyReason()).toBeUndefined();
  const held = [...(await mirror.held()).values()].toSorted((a, b) => a.createdMicros - b.createdMicros);
  expect(
    held.map((contract): JsonObject => {
      const { contractId, templateId, createdAt, synchronizerId = null } = contract;
      const { payload, createdEventBlob } = bodyOf(contract);
      const createArgument = JSON.parse(payload) as JsonValue;
      return { contractId, templateId, createArgument, createdEventBlob, createdAt, synchronizerId };
    }),
  ).toEqual(recorded);
});
