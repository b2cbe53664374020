/**
 * The scripted participant answers the recorded requests with the fields and types of the real participant. Its ledger
 * is scripted after the recorded updates, with their offsets, contracts and payloads.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { Participant } from "../scripted-participant/participant.js";
import { type Creation, ScriptedLedger, type Step } from "../scripted-participant/ledger.js";
import { Listener } from "../scripted-participant/test-client.js";
import { until } from "../fixtures/wait.js";
import {
  type CreatedEvent,
  exchange,
  type ExercisedEvent,
  type HttpExchange,
  participantRecording,
  type RecordedUpdate,
  type StreamExchange,
  transactionOf,
} from "./recordings.js";

/** Calls that the scripted participant does not serve: offledger does not make them. */
const UNSERVED = /^\/v2\/(parties|commands\/|version|state\/connected-synchronizers)/;

/** What the scripted participant cannot answer as recorded. */
const UNCOMPARED: Readonly<Record<string, string>> = {
  "unknown template": "it knows packages, not their templates: an unknown template has no contracts",
};

/** Differences that stay, with the reason. */
const KNOWN: Readonly<Record<string, readonly [difference: string, reason: string][]>> = {
  "offset after the ledger end": [[".context.filters: only recorded", "an echo of the request, which no client reads"]],
  "active contracts, package names unknown": [
    [".context.filters: only recorded", "an echo of the request, which no client reads"],
  ],
};

const effects = () => exchange(participantRecording().ws, "updates, ledger effects").messages as RecordedUpdate[];

/** The ledger's end in the recording, which is an update that no party of it sees. */
const END = 39;

function creationOf(event: CreatedEvent): Creation {
  const { contractId, templateId, packageName, createArgument, createdAt } = event;
  const { createdEventBlob, signatories, observers } = event as unknown as Pick<
    Creation,
    "createdEventBlob" | "signatories" | "observers"
  >;
  const names = { signatories, observers: observers ?? [] };
  return { contractId, templateId, packageName, payload: createArgument, createdAt, createdEventBlob, ...names };
}

function exerciseOf(event: ExercisedEvent): Step {
  const { contractId, choice, choiceArgument, exerciseResult, consuming } = event;
  if (choice === "Archive") return { archive: contractId };
  return { exercise: { contractId, choice, argument: choiceArgument, result: exerciseResult, consuming } };
}

function scripted(): ScriptedLedger {
  const transactions = effects().map(transactionOf);
  const ledger = new ScriptedLedger({ synchronizerId: transactions[0]?.synchronizerId ?? "" });
  for (const { offset, events } of transactions) {
    const steps = events.map(({ CreatedEvent, ExercisedEvent }): Step => {
      if (CreatedEvent !== undefined) return { create: creationOf(CreatedEvent) };
      if (ExercisedEvent !== undefined) return exerciseOf(ExercisedEvent);
      throw new Error(`update ${offset} has an event of another kind`);
    });
    ledger.transact(steps, { offset });
  }
  // The last transaction takes the offsets up to the recorded end.
  expect(ledger.end).toBe(END);
  return ledger;
}

/** The scripted ledger has update ids of its own. */
function withOwnIds(text: string, ledger: ScriptedLedger): string {
  return effects().reduce((changed, update) => {
    const { updateId, offset } = transactionOf(update);
    return changed.replaceAll(updateId, ledger.log.at(offset)?.updateId ?? "");
  }, text);
}

/** Reads a stream until it closes, or cuts it after the recorded messages if the recorded participant was killed. */
async function stream({ path, request, messages, close }: StreamExchange, from: Participant) {
  const listener = new Listener(from.url, path as "/v2/updates", JSON.stringify(request));
  if (close.code === 1006) {
    await until("all messages are there", () => listener.texts.length >= messages.length);
    from.faults.cut({ streams: "open" });
  }
  const { code } = await listener.ended;
  return { code, protocol: listener.protocol, messages: listener.messages };
}

/** Fails on every difference that is not known, and on every known one that is gone. */
function expectSame(name: string, recorded: JsonValue, answer: JsonValue): void {
  const known = (KNOWN[name] ?? []).map(([difference]) => difference);
  expect([...new Set(differences(recorded, answer))]).toEqual(known);
}

const names = (exchanges: readonly { readonly name: string; readonly path: string }[]) =>
  exchanges.filter(({ name, path }) => !UNSERVED.test(path) && !(name in UNCOMPARED)).map(({ name }) => name);

describe("the scripted participant", () => {
  const { http, ws } = participantRecording();
  let participant: Participant;
  beforeAll(async () => {
    participant = await Participant.start({ ledger: scripted() });
  });
  afterAll(() => participant.stop());

  async function call({ method, path, request }: HttpExchange) {
    const body = typeof request === "string" ? request : withOwnIds(JSON.stringify(request), participant.ledger);
    const response = await fetch(participant.url + path, { method, ...(method === "GET" ? {} : { body }) });
    const text = await response.text();
    const contentType = response.headers.get("content-type") ?? "";
    const value = contentType === "application/json" ? (JSON.parse(text) as JsonValue) : text;
    return { status: response.status, contentType, value };
  }

  test.each(names(http))("answers as recorded: %s", async (name) => {
    const recorded = exchange(http, name);
    const { status, contentType, value } = await call(recorded);
    expect([status, contentType]).toEqual([recorded.status, recorded.contentType]);
    expectSame(name, recorded.response, value);
    expect(codeOf(value)).toEqual(codeOf(recorded.response));
  });

  // Recorded at a submission: preparing a command interprets it in the same way.
  test("rejects a command whose contract is not disclosed as recorded", async () => {
    const recorded = exchange(http, "undisclosed contract");
    const { commands } = recorded.request as { commands: JsonObject };
    const request = { ...commands, synchronizerId: "", packageIdSelectionPreference: [] };
    const prepared = { ...recorded, path: "/v2/interactive-submission/prepare", request };
    const { status, contentType, value } = await call(prepared);
    expect([status, contentType]).toEqual([recorded.status, recorded.contentType]);
    expect(differences(recorded.response, value)).toEqual([
      // The submission id, which a preparation does not have.
      ".correlationId: a string is recorded, null is scripted",
      // An echo of the request, which no client reads.
      ".context.commands: only recorded",
    ]);
    expect(codeOf(value)).toEqual(codeOf(recorded.response));
  });

  test.each(names(ws))("streams as recorded: %s", async (name) => {
    const recorded = exchange(ws, name);
    const packageNames = name.includes("package names unknown") ? { packageNames: [] } : {};
    const from = await Participant.start({ ledger: participant.ledger, ...packageNames });
    try {
      const { code, protocol, messages } = await stream(recorded, from);
      expect([code, protocol]).toEqual([recorded.close.code, recorded.subprotocol]);
      expect(messages).toHaveLength(recorded.messages.length);
      for (const [index, message] of messages.entries()) expectSame(name, recorded.messages[index] ?? null, message);
      expect(messages.map(codeOf)).toEqual(recorded.messages.map(codeOf));
      expect(messages.map(contentOf)).toEqual(recorded.messages.map(contentOf));
    } finally {
      await from.stop();
    }
  });

  test("names every exchange that is not compared, and known differences of the others only", () => {
    const all = [...http, ...ws];
    const compared = [...names(http), ...names(ws)];
    expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(UNCOMPARED)));
    expect(compared).toEqual(expect.arrayContaining(Object.keys(KNOWN)));
    expect(compared).toHaveLength(18);
  });
});

/** Code, category, gRPC code and retry of an error; undefined for other messages. */
function codeOf(message: JsonValue): unknown {
  const { code, errorCategory, grpcCodeValue, retryInfo } = message as JsonObject;
  return typeof code === "string" ? [code, errorCategory, grpcCodeValue, retryInfo] : undefined;
}

/** The events that a message shows, with what both participants must agree on. */
function contentOf(message: JsonValue): unknown {
  const { update, contractEntry } = message as JsonObject;
  const text = JSON.stringify(update ?? contractEntry ?? null);
  return [...text.matchAll(/"(\w+Event)":\{"offset":(\d+),"nodeId":(\d+),"contractId":"(\w+)"/g)].map(
    ([match]) => match,
  );
}

/** One line for each difference, such as `.update.offset: a number is recorded, a string is scripted`. */
function differences(recorded: JsonValue, given: JsonValue, path = ""): string[] {
  const [expected, actual] = [typeOf(recorded), typeOf(given)];
  if (expected !== actual) return [`${path}: ${expected} is recorded, ${actual} is scripted`];
  if (Array.isArray(recorded) && Array.isArray(given)) {
    if (recorded.length !== given.length)
      return [`${path}: ${recorded.length} elements are recorded, ${given.length} are scripted`];
    return recorded.flatMap((one, index) => differences(one, given[index] ?? null, `${path}[]`));
  }
  if (!isObject(recorded) || !isObject(given)) return [];
  const fields = new Set([...Object.keys(recorded), ...Object.keys(given)]);
  return [...fields].flatMap((name) => {
    const [one, other] = [recorded[name], given[name]];
    if (one === undefined) return [`${path}.${name}: only scripted`];
    if (other === undefined) return [`${path}.${name}: only recorded`];
    return differences(one, other, `${path}.${name}`);
  });
}

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const typeOf = (value: JsonValue): string =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "an array"
      : typeof value === "object"
        ? "an object"
        : `a ${typeof value}`;
