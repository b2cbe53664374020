/** Randomly damaged requests have the same outcome on the fast path, beside it, and over every rpc protocol. */
import { create, type DescMethodUnary, fromJson, type JsonObject, toBinary, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId, party } from "../../../demo/element.js";
import { InstrumentConfigurationService } from "../../../gen/offledger/instrument_configuration/v0/instrument_configuration_service_pb.js";
import { TransferInstructionService as TransferV1 } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { TransferInstructionService as TransferV2 } from "../../../gen/offledger/transfer_instruction/v2/transfer_instruction_service_pb.js";
import { registry, type Running, serveFile } from "../../fixtures/run-service.js";
import { Client, frame, outcomeOf, overRest, overRpc, type RawResponse, type Send } from "./senders.js";

const acme = party("acme-registrar");
const offer = contractId("offer bond to bob");
const choiceArguments = {
  expectedAdmin: acme,
  transfer: {
    sender: party("alice"),
    receiver: { owner: party("bob"), provider: null, id: "é" },
    amount: "1.0",
    instrumentId: { admin: acme, id: "ACME-EUR" },
    inputHoldingCids: [1, true, null],
  },
};

interface Operation {
  readonly method: DescMethodUnary;
  readonly request: JsonObject;
  /** The path over REST, and the body there. */
  readonly rest: string;
  readonly body: JsonObject;
}

const meta = { meta: { a: ["é€😀"] }, excludeDebugFields: true };
const lookUp = { registrar: acme, instrumentIdentifier: { source: "ISO", id: "EU000A1ACME7", scheme: "ISIN" } };
const operations: readonly Operation[] = [
  {
    method: TransferV2.method.getTransferInstructionRejectContext,
    request: { registrarParty: acme, transferInstructionId: offer, ...meta },
    rest: `${registry(acme)}/transfer-instruction/v2/${offer}/choice-contexts/reject`,
    body: meta,
  },
  {
    method: TransferV1.method.getTransferFactory,
    request: { registrarParty: acme, choiceArguments },
    rest: `${registry(acme)}/transfer-instruction/v1/transfer-factory`,
    body: { choiceArguments },
  },
  {
    // Its request has a message in a message, which the fast decoders leave to the library.
    method: InstrumentConfigurationService.method.getInstrumentConfiguration,
    request: lookUp,
    rest: "/api/utilities/v0/contract/instrument-configuration",
    body: lookUp,
  },
];

let running: Running;
let client: Client;
beforeAll(async () => {
  running = await serveFile(undefined);
  client = new Client(running.url);
});
afterAll(async () => {
  client.close();
  await running.close();
});

/** Bytes that matter to a parser: of JSON, of UTF-8, of frames and fields. */
const punctuation = ['"', "{", "}", "[", "]", ",", ":", "\\", " ", "\0", "\ufeff", "\ufffd", "é"];
const texts = [
  ...punctuation,
  "\\ud800",
  "\\u0041",
  "null",
  "1e999",
  "-0",
  '"meta":5,',
  '"meta":{},',
  '"__proto__":{"a":1},',
  '"excludeDebugFields":1,',
  '{"a":'.repeat(60),
];
const byteSequences = [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0x0a, 1], [0x1a, 0], [0x20, 2], [0x4b]];
const snippets = fc.oneof(
  fc.constantFrom(...texts).map((text) => Buffer.from(text)),
  fc.constantFrom(...byteSequences).map((bytes) => Buffer.from(bytes)),
  fc.uint8Array({ minLength: 1, maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
);

interface Damage {
  readonly at: number;
  readonly removed: number;
  readonly inserted: Buffer;
}

/** Replaces up to three stretches of the bytes; `at` is a fraction of the length. */
const damages: fc.Arbitrary<readonly Damage[]> = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    removed: fc.constantFrom(0, 0, 1, 2, 10),
    inserted: fc.oneof(snippets, fc.constant(Buffer.alloc(0))),
  }),
  { maxLength: 3 },
);

function damaged(bytes: Buffer, all: readonly Damage[]): Buffer {
  return all.reduce((before, { at, removed, inserted }) => {
    const from = Math.round(at * before.length);
    return Buffer.concat([before.subarray(0, from), inserted, before.subarray(from + removed)]);
  }, bytes);
}

/** Sends the same bytes in every way. Successful responses in JSON must have the same content too. */
async function expectSame(sends: Readonly<Record<string, Send>>, bytes: Buffer): Promise<void> {
  const outcomes: Record<string, string> = {};
  const contents: unknown[] = [];
  for (const [name, send] of Object.entries(sends)) {
    const response = await send(client, bytes);
    outcomes[name] = outcomeOf(response);
    if (isJson(response)) contents.push(JSON.parse(response.body.toString()));
  }
  const [first = ""] = Object.values(outcomes);
  expect(outcomes).toEqual(Object.fromEntries(Object.keys(outcomes).map((name) => [name, first])));
  expect(["ok", "invalid_argument", "not_found"]).toContain(first);
  for (const content of contents) expect(content).toEqual(contents[0]);
}

const isJson = ({ status, fields }: RawResponse): boolean =>
  status === 200 && fields["content-type"] === "application/json";

const sendFrames = (path: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<RawResponse> =>
  client.http2({ path, headers: { "content-type": "application/grpc", ...headers }, body });

const cases = operations.map((operation): [string, Operation] => [operation.method.name, operation]);
const runs = { numRuns: 100 };

describe.each(cases)("%s", (_name, { method, request, rest, body }) => {
  const target = { rest, rpc: `/${method.parent.typeName}/${method.name}` };
  const message = fromJson(method.input, request);

  test("damaged JSON over REST", async () => {
    const text = Buffer.from(JSON.stringify(body));
    await fc.assert(
      fc.asyncProperty(damages, (all) => expectSame(overRest(target), damaged(text, all))),
      runs,
    );
  });

  test("damaged JSON over every rpc protocol", async () => {
    const text = Buffer.from(toJsonString(method.input, message));
    await fc.assert(
      fc.asyncProperty(damages, (all) => expectSame(overRpc(target, "json"), damaged(text, all))),
      runs,
    );
  });

  test("damaged binary messages over every rpc protocol", async () => {
    const bytes = Buffer.from(toBinary(method.input, message));
    await fc.assert(
      fc.asyncProperty(damages, (all) => expectSame(overRpc(target, "proto"), damaged(bytes, all))),
      runs,
    );
  });

  test("damaged frames of gRPC", async () => {
    const bytes = frame(Buffer.from(toBinary(method.input, message)));
    await fc.assert(
      fc.asyncProperty(damages, async (all) => {
        const sent = damaged(bytes, all);
        const fast = outcomeOf(await sendFrames(target.rpc, {}, sent));
        expect(outcomeOf(await sendFrames(target.rpc, { "grpc-timeout": "60S" }, sent))).toBe(fast);
      }),
      runs,
    );
  });
});

test("the requests are valid without damage", async () => {
  for (const { method, request, rest, body } of operations) {
    const target = { rest, rpc: `/${method.parent.typeName}/${method.name}` };
    const sends = overRpc(target, "proto");
    const bytes = Buffer.from(toBinary(method.input, create(method.input, fromJson(method.input, request))));
    for (const send of Object.values(sends)) expect(outcomeOf(await send(client, bytes))).toBe("ok");
    for (const send of Object.values(overRest(target))) {
      expect(outcomeOf(await send(client, Buffer.from(JSON.stringify(body))))).toBe("ok");
    }
  }
});
