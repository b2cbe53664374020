/** Bodies at the edges of what is allowed: one outcome over every protocol. */
import http2 from "node:http2";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId } from "../../demo/element.js";
import { acme } from "../fixtures/calls/build.js";
import { cashTransfer } from "../fixtures/calls/index.js";
import { onTransfer } from "../fixtures/calls/operations.js";
import { type HttpResponse, requestHttp1, requestHttp2 } from "../fixtures/http-requests.js";
import { framed } from "../fixtures/requests-in-forms.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { nameOf } from "../fixtures/services.js";

const MAX_BYTES = 256 * 1024;
const offer = contractId("offer bond to bob");
const reject = onTransfer("v2", "reject", offer, acme);
const rpcPath = `/${nameOf(reject.method)}`;
/** What an rpc has in its message, and REST in its path. */
const fieldsOfPath = `"registrarParty":${JSON.stringify(acme)},"transferInstructionId":"${offer}",`;
const rpcMessage = `{${fieldsOfPath}"meta":{}}`;

let running: Running;
let session: http2.ClientHttp2Session;
beforeAll(async () => {
  running = await serveFile(undefined, { config: { maxBodyBytes: MAX_BYTES } });
  session = http2.connect(running.url);
});
afterAll(async () => {
  session.close();
  await running.close();
});

const typed = (type: string) => ({ "content-type": type });
const JSON_TYPE = typed("application/json");
const by1 = (path: string, headers: Record<string, string>, body: Buffer) =>
  requestHttp1(running.url, path, headers, body);
const by2 = (path: string, headers: Record<string, string>, body: Buffer) => requestHttp2(session, path, headers, body);
const rest = (body: Buffer, type = "application/json") => by1(reject.path, typed(type), body);

/** With and without a deadline. */
const jsonOverRpc: Readonly<Record<string, (body: Buffer) => Promise<HttpResponse>>> = {
  Connect: (body) => by1(rpcPath, JSON_TYPE, body),
  "Connect with a deadline": (body) => by1(rpcPath, { ...JSON_TYPE, "connect-timeout-ms": "60000" }, body),
  gRPC: (body) => by2(rpcPath, typed("application/grpc+json"), framed(body)),
  "gRPC-Web": (body) => by1(rpcPath, typed("application/grpc-web+json"), framed(body)),
};

/** The names that the tests expect, by the statuses of REST and Connect, and by the numbers of gRPC. */
const byStatus: Readonly<Record<number, string>> = {
  400: "invalid_argument",
  404: "not_found",
  429: "resource_exhausted",
};
const byNumber: Readonly<Record<string, string>> = {
  0: "ok",
  3: "invalid_argument",
  5: "not_found",
  8: "resource_exhausted",
  12: "unimplemented",
};

function outcomeOf({ status = 0, headers, body }: HttpResponse): string {
  if (status !== 200) return byStatus[status] ?? String(status);
  if (!String(headers["content-type"]).startsWith("application/grpc")) return "ok";
  // gRPC-Web sends its trailers in the body.
  const { "grpc-status": number = /grpc-status: ?(\d+)/.exec(body)?.[1] } = headers;
  return byNumber[String(number)] ?? `grpc-status ${String(number)}`;
}

type Parts = readonly (string | readonly number[] | Buffer)[];
const bytes = (...parts: Parts): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))));
const BOM = [0xef, 0xbb, 0xbf];
/** Bytes that are not UTF-8: a byte of Latin-1, and a surrogate. */
const invalidUtf8 = [[0xe9], [0xed, 0xa0, 0x80]];
const nested = (open: string, close: string, depth: number): string => `${open.repeat(depth)}1${close.repeat(depth)}`;

const object = (text: string) => (fields: string) => bytes(`{${fields}${text}}`);

const whole = (body: string | Buffer) => () => bytes(body);

/** Of a body, as docs/security.md has it. */
const MAX_KEYS = 5_000;
const MAX_FIELDS = 20_000;
const keys = (count: number): string => Array.from({ length: count }, (_, at) => `"k${at}":1`).join(",");
const others = (fields: string): number => Object.keys(JSON.parse(`{${fields}"meta":0}`) as object).length;
const withKeys = (count: number) => (fields: string) => bytes(`{${fields}"meta":{${keys(count - others(fields))}}}`);
const withElements = (count: number) => (fields: string) =>
  bytes(`{${fields}"other":[${Array.from({ length: count - others(fields) }, () => 1).join()}]}`);
/** In V8 such an object costs several times what one with names does. */
const sparse = `"a":"\\ud83d\\ude00","b":1234567890123456789,${Array.from({ length: 10_000 }, (_, at) => `"${at * 400_009}":1`).join()}`;

describe("JSON", () => {
  /** From the fields that an rpc needs; the outcome over every protocol. REST reads "blank" as {}. */
  type Row = readonly [what: string, outcome: "ok" | "wrong" | "blank", body: (fields: string) => Buffer];

  const rows: readonly Row[] = [
    ["a plain body", "ok", object('"excludeDebugFields":true')],
    ["whitespace around it", "ok", (fields) => bytes(` \r\n\t{${fields}"meta":{}} \r\n\t`)],
    ["a byte order mark before it", "ok", (fields) => bytes(BOM, `{${fields}"meta":{}}`)],
    ["two byte order marks", "wrong", (fields) => bytes(BOM, BOM, `{${fields}"meta":{}}`)],
    ["UTF-16", "wrong", (fields) => Buffer.from(`{${fields}"meta":{}}`, "utf16le")],
    ...invalidUtf8.flatMap((invalid): Row[] => [
      [`${invalid.join()} in a value`, "wrong", (fields) => bytes(`{${fields}"meta":{"a":"x`, invalid, `"}}`)],
      [`${invalid.join()} in an unknown field`, "wrong", (fields) => bytes(`{${fields}"other":"x`, invalid, `"}`)],
    ]),
    ["the replacement character", "ok", object('"meta":{"\ufffd":"\ufffd"}')],
    ["characters of every length", "ok", object('"meta":{"é€😀":"é€😀"}')],
    ["half a surrogate pair in a value", "wrong", object('"meta":{"a":"\\ud800"}')],
    ["half a surrogate pair in a key", "wrong", object('"meta":{"\\ud83d":1}')],
    ["half a surrogate pair in an unknown field", "wrong", object('"other":"\\ud800"')],
    ["a surrogate pair in the wrong order", "wrong", object('"meta":{"a":"\\ude00\\ud83d"}')],
    ["a surrogate pair", "ok", object('"meta":{"a":"\\ud83d\\ude00"}')],
    ["an escaped backslash before ud800", "ok", object('"meta":{"a":"\\\\ud800"}')],
    ...["null", "[]", "1", "true", '"x"', "\u00a0", "{"].map((text): Row => [text, "wrong", whole(text)]),
    ["no bytes", "blank", whole("")],
    ["whitespace", "blank", whole(" \r\n\t")],
    ["a byte order mark alone", "blank", whole(Buffer.from(BOM))],
    ["a duplicate key", "ok", object('"excludeDebugFields":true,"excludeDebugFields":false')],
    ["both names of a field", "wrong", object('"excludeDebugFields":true,"exclude_debug_fields":true')],
    ["__proto__ as a key", "ok", object('"__proto__":{"excludeDebugFields":5}')],
    ["__proto__ with deep nesting", "ok", object(`"meta":{"__proto__":${nested('{"a":', "}", 60)}}`)],
    ["objects at the limit of nesting", "ok", object(`"meta":${nested('{"a":', "}", 48)}`)],
    ["objects past it", "wrong", object(`"meta":${nested('{"a":', "}", 49)}`)],
    ["lists past it", "wrong", object(`"meta":{"a":${nested("[", "]", 48)}}`)],
    ["an unknown field past the limit of a body", "wrong", object(`"other":${nested("[", "]", 65_536)}`)],
    ["as many keys as a body may have", "ok", withKeys(MAX_KEYS)],
    ["a key more", "wrong", withKeys(MAX_KEYS + 1)],
    ["as many elements as a body may have", "ok", withElements(MAX_KEYS)],
    ["an element more", "wrong", withElements(MAX_KEYS + 1)],
    ["keys that are numbers, an escape and a long number", "wrong", (fields) => bytes(`{${fields}"meta":{${sparse}}}`)],
    ["100,000 opening brackets", "wrong", whole("[".repeat(100_000))],
    ["a number for a boolean", "wrong", object('"excludeDebugFields":1')],
    ["null for fields", "ok", object('"meta":null,"excludeDebugFields":null')],
    ["a number past the range of doubles", "ok", object('"meta":{"a":1e999}')],
  ];
  const parties = {
    sender: { owner: "alice" },
    receiver: { owner: "bob" },
    instrumentId: { admin: acme, id: "GOLD" },
  };
  const outcomes = { ok: "ok", wrong: "invalid_argument", blank: "invalid_argument" };

  test.each(rows)("%s: %s", async (_what, outcome, body) => {
    expect(outcomeOf(await rest(body("")))).toBe(outcome === "blank" ? "ok" : outcomes[outcome]);
    for (const [name, send] of Object.entries(jsonOverRpc))
      expect([name, outcomeOf(await send(body(fieldsOfPath)))]).toEqual([name, outcomes[outcome]]);
  });

  test.each([
    [{ registrarParty: 5 }, "registrar_party", "must be a string, but is 5"],
    [{ choiceArguments: [] }, "choice_arguments", "must be an object, but is a list"],
    [
      { transferV1: { transfer: { requestedAt: "soon" } } },
      "transfer_v1.transfer.requested_at",
      'must be a time such as 2026-01-31T12:00:00Z, but is "soon"',
    ],
    [
      { transferV1: { transfer: { requestedAt: "2026-06-01T00:00:00Z", inputHoldingCids: ["a", 7] } } },
      "transfer_v1.transfer.input_holding_cids[1]",
      "must be a string, but is 7",
    ],
    [
      { registrarParty: acme, choiceArguments: {}, transferV2: { transfer: { ...parties } } },
      "transfer_v2",
      "choiceArguments and transferV2 are set, but only one of them can be",
    ],
    [{ registrarParty: acme }, "choice_arguments", "value is required"],
    [
      { registrarParty: acme, transferV2: { transfer: { ...parties, sender: null } } },
      "transfer_v2.transfer.sender",
      "value is required",
    ],
  ])("what is wrong with %j is named by its path", async (request, field, description) => {
    for (const headers of [JSON_TYPE, { ...JSON_TYPE, "connect-timeout-ms": "50000" }]) {
      const { body } = await by1(`/${nameOf(cashTransfer.method)}`, headers, Buffer.from(JSON.stringify(request)));
      const violation = { type: "google.rpc.BadRequest", debug: { fieldViolations: [{ field, description }] } };
      expect(JSON.parse(body)).toMatchObject({ code: "invalid_argument", details: [{}, violation] });
    }
  });
});

describe("binary messages", () => {
  const [VARINT, DELIMITED] = [0, 2];
  const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]);
  const tag = (number: number, type: number): number[] => varint((number << 3) | type);
  function field(number: number, ...parts: Parts): Buffer {
    const value = bytes(...parts);
    return bytes([...tag(number, DELIMITED), ...varint(value.length)], value);
  }
  // The fields of the request, of Struct and of Value.
  const [REGISTRAR, INSTRUCTION, META, EXCLUDE_DEBUG_FIELDS] = [1, 2, 3, 4];
  const stringValue = (...text: Parts): Buffer => field(3, ...text);
  const struct = (name: Parts, value: Buffer): Buffer => field(1, field(1, ...name), field(2, value));
  const nestedStructs = (depth: number): Buffer =>
    depth === 0 ? Buffer.alloc(0) : struct(["a"], depth === 1 ? stringValue("x") : field(5, nestedStructs(depth - 1)));
  const valid = bytes(field(REGISTRAR, acme), field(INSTRUCTION, offer));
  const UNKNOWN = 15;
  const fields = (count: number): Buffer => Buffer.concat(Array.from({ length: count }, () => field(UNKNOWN)));
  const proto = struct(["__proto__"], stringValue("x"));
  /** An entry of a Struct has four: itself, its key, its value and what kind that is. The Struct is another. */
  const structs = (count: number): Buffer =>
    field(
      META,
      ...Array.from({ length: Math.floor((count - 1) / 4) }, (_, at) => struct([`k${at}`], stringValue("x"))),
    );

  test.each<readonly [what: string, more: Buffer, outcome: string]>([
    ["nothing", Buffer.alloc(0), "ok"],
    ...invalidUtf8.flatMap((invalid): [string, Buffer, string][] => [
      [`${invalid.join()} in a field`, field(INSTRUCTION, "x", invalid), "invalid_argument"],
      [`${invalid.join()} in a value`, field(META, struct(["a"], stringValue("x", invalid))), "invalid_argument"],
      [`${invalid.join()} in a key`, field(META, struct(["x", invalid], stringValue("a"))), "invalid_argument"],
    ]),
    ["a byte order mark in a field, which is a part of it", field(REGISTRAR, BOM, acme), "not_found"],
    ["a field twice: the last counts", field(REGISTRAR, "other"), "not_found"],
    ["a boolean of 2", bytes(tag(EXCLUDE_DEBUG_FIELDS, VARINT), [2]), "ok"],
    ["__proto__ in an object", field(META, struct(["__proto__"], stringValue("x"))), "ok"],
    ["objects at the limit of nesting", field(META, nestedStructs(48)), "ok"],
    ["objects past it", field(META, nestedStructs(49)), "invalid_argument"],
  ])("a message and %s", async (_what, more, outcome) => {
    const body = bytes(valid, more);
    expect(outcomeOf(await by1(rpcPath, typed("application/proto"), body))).toBe(outcome);
    expect(outcomeOf(await by2(rpcPath, typed("application/grpc+proto"), framed(body)))).toBe(outcome);
  });

  test.each<readonly [what: string, more: Buffer, outcome: string]>([
    ["as many fields as it may have", fields(MAX_FIELDS - 2), "ok"],
    ["a field more", fields(MAX_FIELDS - 1), "invalid_argument"],
    ["as many within objects", structs(MAX_FIELDS - 2), "ok"],
    ["more within objects", structs(MAX_FIELDS + 2), "invalid_argument"],
    ["more behind __proto__", bytes(field(META, proto), structs(MAX_FIELDS)), "invalid_argument"],
  ])("a message and %s, with a deadline and compressed too", async (_what, more, outcome) => {
    const body = bytes(valid, more);
    const zipped = gzipSync(body);
    for (const headers of [{}, { "connect-timeout-ms": "60000" }])
      expect(outcomeOf(await by1(rpcPath, { ...typed("application/proto"), ...headers }, body))).toBe(outcome);
    expect(outcomeOf(await by1(rpcPath, typed("application/grpc-web+proto"), framed(body)))).toBe(outcome);
    const unary = { ...typed("application/proto"), "content-encoding": "gzip" };
    expect(outcomeOf(await by1(rpcPath, unary, zipped))).toBe(outcome);
    for (const [headers, message] of [
      [{}, framed(body)],
      [{ "grpc-encoding": "gzip" }, framed(zipped, 1)],
      // Compressed, as the header has it, or not.
      [{ "grpc-encoding": "gzip" }, framed(body)],
    ] as const)
      expect(outcomeOf(await by2(rpcPath, { ...typed("application/grpc"), ...headers }, message))).toBe(outcome);
  });

  // client/raw-requests.test.ts has the others.
  test.each<[what: string, body: Buffer, outcome: string]>([
    ["a message cut short", framed(valid).subarray(0, -1), "invalid_argument"],
    ["a byte after the message", bytes(framed(valid), [0]), "unimplemented"],
    ["a length past the limit on bodies", bytes([0, 0xff, 0xff, 0xff, 0xff], valid), "invalid_argument"],
    ["a reserved flag", framed(valid, 2), "ok"],
  ])("%s over gRPC", async (_what, body, outcome) => {
    expect(outcomeOf(await by2(rpcPath, typed("application/grpc"), body))).toBe(outcome);
  });
});

describe("a compressed message", () => {
  /** A fraction of the limit, and more than the limit when it is decompressed. */
  const bomb = gzipSync(Buffer.alloc(16 * MAX_BYTES));
  const zipped = gzipSync(rpcMessage);
  const ways: Readonly<Record<string, (body: Buffer) => Promise<HttpResponse>>> = {
    Connect: (body) => by1(rpcPath, { ...JSON_TYPE, "content-encoding": "gzip" }, body),
    gRPC: (body) => by2(rpcPath, { ...typed("application/grpc+json"), "grpc-encoding": "gzip" }, framed(body, 1)),
    "gRPC-Web": (body) =>
      by1(rpcPath, { ...typed("application/grpc-web+json"), "grpc-encoding": "gzip" }, framed(body, 1)),
  };

  test.each(Object.entries(ways))("over %s has its limit when it is decompressed", async (_name, send) => {
    expect(outcomeOf(await send(zipped))).toBe("ok");
    expect(outcomeOf(await send(bomb))).toBe("resource_exhausted");
    // The client's fault where it ends early.
    expect(outcomeOf(await send(zipped.subarray(0, -12)))).toBe("invalid_argument");
  });

  test("of a Connect GET has it too", async () => {
    const query = `connect=v1&encoding=json&compression=gzip&base64=1&message=${bomb.toString("base64url")}`;
    const { status, body } = await requestHttp1(running.url, `${rpcPath}?${query}`);
    expect([status, JSON.parse(body)]).toMatchObject([429, { code: "resource_exhausted" }]);
  });

  test("is none of REST, which names its reason", async () => {
    for (const encoding of ["gzip", "x-unknown"]) {
      const { status, body } = await by1(reject.path, { ...JSON_TYPE, "content-encoding": encoding }, gzipSync("{}"));
      expect([status, JSON.parse(body)]).toEqual([415, { error: "the body must not have a content-encoding" }]);
    }
    const identity = { ...JSON_TYPE, "content-encoding": "identity" };
    expect((await by1(reject.path, identity, Buffer.from("{}"))).status).toBe(200);
  });
});

describe("the content type", () => {
  const body = Buffer.from(rpcMessage);

  test("of REST is JSON in UTF-8, or anything without a body", async () => {
    for (const parameters of ["", "; charset=UTF-8", ';charset="utf-8"', "; odata=verbose"])
      expect([parameters, (await rest(body, `application/json${parameters}`)).status]).toEqual([parameters, 200]);
    for (const [type, error] of [
      ["application/json; charset=iso-8859-1", 'the charset of the body must be utf-8, but is "iso-8859-1"'],
      ["application/json; odata=verbose; charset=utf-16", 'the charset of the body must be utf-8, but is "utf-16"'],
      ["text/plain", 'the content-type must be application/json, but is "text/plain"'],
      ["application/jsonx", 'the content-type must be application/json, but is "application/jsonx"'],
    ] as const) {
      const response = await rest(body, type);
      expect([response.status, JSON.parse(response.body)]).toEqual([415, { error }]);
      expect((await rest(Buffer.alloc(0), type)).status).toBe(200);
    }
  });
});

test.each<[string, string, number]>([
  ["a percent sign that encodes nothing", "&other=100%", 200],
  ["half a surrogate pair", "", 400],
])("a GET of an rpc with %s", async (_what, more, status) => {
  const message = status === 200 ? rpcMessage : '{"registrarParty":"\\ud800"}';
  const query = new URLSearchParams({ encoding: "json", message }).toString();
  expect((await requestHttp1(running.url, `${rpcPath}?${query}${more}`)).status).toBe(status);
});
