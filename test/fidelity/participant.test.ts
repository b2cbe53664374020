/** A real participant: our client sends the requests that it answered, and understands its answers. proofs.test.ts has its past. */
import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../src/util/json.js";
import { ParticipantClient } from "../../src/ledger/participant/client.js";
import type { LedgerError, LedgerErrorKind } from "../../src/ledger/participant/errors.js";
import { namedParties } from "../../src/ledger/participant/parties.js";
import { callParticipant } from "../../src/ledger/participant/http.js";
import { streamMessages } from "../../src/ledger/participant/message-stream.js";
import { allocationFactory, credential, holding } from "../../src/registry/utility/templates.js";
import { endpointAt, failureOf } from "../ledger/participant/servers.js";
import { exchange, participantRecording, type RecordedUpdate, transactionOf } from "./recordings.js";
import { asRecorded, replay } from "./replay.js";

/** The outcome of a call: an answer, or the kind and the code of the error. */
type Outcome = "answered" | readonly [LedgerErrorKind, code: string | undefined];

const calls: readonly [name: string, Outcome][] = [
  ["version", "answered"],
  ["allocate party", "answered"],
  ["ledger end", "answered"],
  ["pruned offsets", "answered"],
  ["connected synchronizers", "answered"],
  ["create factory", "answered"],
  ["create two in one", "answered"],
  ["create and archive in one transaction", "answered"],
  ["archive", "answered"],
  ["exercise on an archived contract", ["refused", "CONTRACT_NOT_FOUND"]],
  ["non-consuming choice", "answered"],
  ["undisclosed contract", ["refused", "CONTRACT_NOT_FOUND"]],
  ["unknown template", ["incomplete", "NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME"]],
  ["unknown party", "answered"],
  ["offset after the ledger end", ["ahead", "OFFSET_AFTER_LEDGER_END"]],
  ["update by id", "answered"],
  ["update by id, unknown", ["refused", "UPDATE_NOT_FOUND"]],
  ["update by id, not an id", ["refused", "INVALID_ARGUMENT"]],
  ["events by contract id", "answered"],
  ["events by contract id, unknown", ["refused", "CONTRACT_EVENTS_NOT_FOUND"]],
  ["body that is not JSON", ["refused", undefined]],
];

/** How a stream ends, after the messages before an error. */
type End = "closed" | readonly [LedgerErrorKind, code: string | undefined];

const streams: readonly [name: string, elements: number, End][] = [
  ["updates, package names unknown", 0, ["incomplete", "PACKAGE_NAMES_NOT_FOUND"]],
  ["active contracts, package names unknown", 0, ["incomplete", "PACKAGE_NAMES_NOT_FOUND"]],
  ["active contracts", 2, "closed"],
  ["updates, bounded", 3, "closed"],
  ["updates, ledger effects", 5, "closed"],
  ["updates, beyond the ledger end", 0, ["ahead", "OFFSET_AFTER_LEDGER_END"]],
  ["a request that is not one", 0, ["refused", "INVALID_ARGUMENT"]],
  ["updates, live, with an idle time", 3, ["lost", undefined]],
];

/** In the order of the recorded requests. */
const templates = [allocationFactory, credential, holding];

/** The registrar of the recording. */
function registrar(): string {
  const { response } = exchange(participantRecording().http, "allocate party");
  return (response as { partyDetails: { party: string } }).partyDetails.party;
}

async function clientOf(ofTemplates = templates) {
  const replayed = await replay(asRecorded(participantRecording()));
  return {
    replayed,
    client: new ParticipantClient(endpointAt(replayed.url), namedParties([registrar()]), ofTemplates),
  };
}

/** Reads a stream to its end. */
async function collect(stream: AsyncIterable<JsonValue>) {
  const messages: JsonValue[] = [];
  const read = async () => {
    for await (const message of stream) messages.push(message);
  };
  let failure: LedgerError | undefined;
  await read().catch((error: LedgerError) => {
    failure = error;
  });
  return { messages, failure };
}

const offsetsOf = (messages: readonly JsonValue[]): readonly number[] =>
  messages.map((message) => transactionOf(message as RecordedUpdate).offset);

const outcomeOf = ({ kind, code }: LedgerError): Outcome => [kind, code];

describe("a recorded participant", () => {
  test("has no other answers than those compared here", () => {
    const { http, ws } = participantRecording();
    expect(http.map(({ name }) => name)).toEqual(calls.map(([name]) => name));
    expect(ws.map(({ name }) => name)).toEqual(streams.map(([name]) => name));
  });

  test.each(calls)("call: %s", async (name, outcome) => {
    const { method, path, request, response } = exchange(participantRecording().http, name);
    const { url, unanswered } = await replay(asRecorded(participantRecording()));
    const call = callParticipant(endpointAt(url), method, path, request ?? undefined);
    const got: unknown = outcome === "answered" ? await call : outcomeOf(await failureOf(call));
    expect(got).toEqual(outcome === "answered" ? response : outcome);
    expect(unanswered).toEqual([]);
  });

  test.each(streams)("stream: %s", async (name, elements, end) => {
    const { path, request, messages: recorded } = exchange(participantRecording().ws, name);
    const { url, offered } = await replay(asRecorded(participantRecording()));
    const { messages, failure } = await collect(streamMessages(endpointAt(url), path, request, true));
    expect(messages).toEqual(recorded.slice(0, elements));
    expect(failure === undefined ? "closed" : outcomeOf(failure)).toEqual(end);
    expect(offered).toEqual([["daml.ws.auth"]]);
  });

  test("answers our client's offsets", async () => {
    const { client } = await clientOf();
    expect(await client.ledgerEnd()).toBe(22);
    expect(await client.prunedUpTo()).toBe(0);
  });

  test("knows an update that it has, and not another", async () => {
    const { client, replayed } = await clientOf();
    expect(await client.hasUpdate("12209c37f2adf91aa81dc7e3cdb3f1a042525e1e809d55c62071cccf83ce37c1e914")).toBe(true);
    expect(await client.hasUpdate(`1220${"0".repeat(64)}`)).toBe(false);
    expect(await failureOf(client.hasUpdate("nonsense"))).toMatchObject({ kind: "refused", code: "INVALID_ARGUMENT" });
    expect(replayed.unanswered).toEqual([]);
  });

  test("gets from our client the very requests that were recorded for streams", async () => {
    const { client, replayed } = await clientOf();
    expect((await collect(client.activeContracts(39))).messages).toHaveLength(2);
    expect(offsetsOf((await collect(await client.updates(24, 39))).messages)).toEqual([25, 28, 34]);
    expect(offsetsOf((await collect(await client.updates(24))).messages)).toEqual([25, 28, 34]);
    expect((await collect(await client.updates(1039))).failure).toMatchObject({ kind: "ahead" });
    expect(replayed.unanswered).toEqual([]);
    const { client: narrow, replayed: again } = await clientOf([allocationFactory]);
    expect((await collect(narrow.activeContracts(14))).failure).toMatchObject({ code: "PACKAGE_NAMES_NOT_FOUND" });
    expect(again.unanswered).toEqual([]);
  });
});
