/**
 * Bodies at the edges of what is allowed: one outcome over every protocol, on the short way and beside it. Without what
 * JSON.parse, TextDecoder and the library of protobuf reject by themselves, but for one of each.
 */
import http from "node:http";
import http2 from "node:http2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId, party } from "../../../demo/element.js";
import { type HttpResponse, requestHttp1, requestHttp2 } from "../../fixtures/http-requests.js";
import { registry, type Running, serveFile } from "../../fixtures/run-service.js";

const acme = party("acme-registrar");
const offer = contractId("offer bond to bob");
const restPath = `${registry(acme)}/transfer-instruction/v2/${offer}/choice-contexts/reject`;
const rpcPath = "/offledger.transfer_instruction.v2.TransferInstructionService/GetTransferInstructionRejectContext";
/** What an rpc has in its message, and REST in its path. */
const fieldsOfPath = `"registrarParty":${JSON.stringify(acme)},"transferInstructionId":"${offer}",`;
const rpcMessage = `{${fieldsOfPath}"meta":{}}`;

let running: Running;
let session: http2.ClientHttp2Session;
const agent = new http.Agent({ keepAlive: true });
beforeAll(async () => {
  running = await serveFile(undefined);
  session = http2.connect(running.url);
});
afterAll(async () => {
  agent.destroy();
  session.close();
  await running.close();
});

/** Sends a message in one way. */
type Send = (message: Buffer, contentType?: string) => Promise<HttpResponse>;
const typed = (type: string) => ({ "content-type": type });
const by1 = (path: string, headers: Record<string, string>, body: Buffer) =>
  requestHttp1(running.url, path, headers, body, agent);
const by2 = (path: string, headers: Record<string, string>, body: Buffer) => requestHttp2(session, path, headers, body);

function frame(message: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** REST, whose message has no fields of the path. */
const overRest: Readonly<Record<string, Send>> = {
  REST: (body, type = "application/json") => by1(restPath, typed(type), body),
  "REST, chunked": (body, type = "application/json") =>
    by1(restPath, { ...typed(type), "transfer-encoding": "chunked" }, body),
  "REST over HTTP/2": (body, type = "application/json") => by2(restPath, typed(type), body),
};

/** The short way, and connect-es. */
const jsonOverRpc: Readonly<Record<string, Send>> = {
  Connect: (body, type = "application/json") => by1(rpcPath, typed(type), body),
  "Connect with a deadline": (body) =>
    by1(rpcPath, { ...typed("application/json"), "connect-timeout-ms": "60000" }, body),
  "gRPC-Web": (body) => by1(rpcPath, typed("application/grpc-web+json"), frame(body)),
};
const protoOverRpc: Readonly<Record<string, Send>> = {
  Connect: (body) => by1(rpcPath, typed("application/proto"), body),
  gRPC: (body) => by2(rpcPath, typed("application/grpc+proto"), frame(body)),
};

/** The codes that the tests expect, by the statuses of REST and Connect, and by their numbers in gRPC. */
const byStatus: Readonly<Record<number, string>> = { 200: "ok", 400: "invalid_argument", 404: "not_found" };
const byNumber: Readonly<Record<string, string>> = {
  "0": "ok",
  "3": "invalid_argument",
  "5": "not_found",
  "12": "unimplemented",
  "13": "internal",
};

function outcomeOf({ status, headers, body }: HttpResponse): string {
  if (status !== 200) {
    const { code, ...others } = JSON.parse(body) as { readonly code?: string; readonly error?: string };
    if (code === undefined && (Object.keys(others).join() !== "error" || others.error === "")) return `body ${body}`;
    const known = byStatus[status ?? 0] ?? String(status);
    return code !== undefined && code !== known ? `status ${status} with code ${code}` : known;
  }
  if (!String(headers["content-type"]).startsWith("application/grpc")) return "ok";
  // gRPC-Web sends its trailers in the body.
  const { "grpc-status": number = /grpc-status: ?(\d+)/.exec(body)?.[1] } = headers;
  return byNumber[String(number)] ?? `grpc-status ${String(number)}`;
}

const bytes = (...parts: readonly (string | readonly number[] | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))));
const BOM = [0xef, 0xbb, 0xbf];
/** Bytes that are not UTF-8. */
const invalidUtf8: readonly (readonly [what: string, bytes: readonly number[]])[] = [
  ["a byte of Latin-1", [0xe9]],
  ["a surrogate in UTF-8", [0xed, 0xa0, 0x80]],
];

const nested = (open: string, close: string, depth: number): string => `${open.repeat(depth)}1${close.repeat(depth)}`;

describe("JSON", () => {
  /** A body from the fields that an rpc needs: the rest of the object stands in `body`. */
  interface Row {
    readonly what: string;
    readonly body: (fields: string) => Buffer;
    /** The outcome over every protocol. */
    readonly outcome: "ok" | "invalid_argument";
    /** The outcome of REST, where the body is no message but a part of one. */
    readonly rest?: "ok";
  }

  const ok = (what: string, body: Row["body"]): Row => ({ what, body, outcome: "ok" });
  const wrong = (what: string, body: Row["body"]): Row => ({ what, body, outcome: "invalid_argument" });
  const blank = (what: string, body: Buffer): Row => ({ ...wrong(what, () => body), rest: "ok" });

  const rows: readonly Row[] = [
    ok("a plain body", (fields) => bytes(`{${fields}"excludeDebugFields":true}`)),
    ok("whitespace around the body", (fields) => bytes(` \r\n\t{${fields}"meta":{}} \r\n\t`)),
    ok("a byte order mark before the body", (fields) => bytes(BOM, `{${fields}"meta":{}}`)),
    wrong("two byte order marks", (fields) => bytes(BOM, BOM, `{${fields}"meta":{}}`)),
    wrong("a byte order mark after the body", (fields) => bytes(`{${fields}"meta":{}}`, BOM)),
    wrong("UTF-16", (fields) => Buffer.from(`{${fields}"meta":{}}`, "utf16le")),
    ...invalidUtf8.flatMap(([what, invalid]) => [
      wrong(`${what} in a value`, (fields) => bytes(`{${fields}"meta":{"a":"x`, invalid, `"}}`)),
      wrong(`${what} in a key`, (fields) => bytes(`{${fields}"meta":{"x`, invalid, `":"a"}}`)),
      wrong(`${what} in an unknown field`, (fields) => bytes(`{${fields}"other":"x`, invalid, `"}`)),
      wrong(`${what} after the body`, (fields) => bytes(`{${fields}"meta":{}}`, invalid)),
    ]),
    ok("the replacement character", (fields) => bytes(`{${fields}"meta":{"\ufffd":"\ufffd"}}`)),
    ok("characters of every length", (fields) => bytes(`{${fields}"meta":{"é€😀":"é€😀"}}`)),
    wrong("half a surrogate pair in a value", (fields) => bytes(`{${fields}"meta":{"a":"\\ud800"}}`)),
    wrong("half a surrogate pair in a key", (fields) => bytes(`{${fields}"meta":{"\\ud83d":1}}`)),
    wrong("half a surrogate pair in an unknown field", (fields) => bytes(`{${fields}"other":"\\ud800"}`)),
    wrong("a surrogate pair in the wrong order", (fields) => bytes(`{${fields}"meta":{"a":"\\ude00\\ud83d"}}`)),
    ok("a surrogate pair", (fields) => bytes(`{${fields}"meta":{"a":"\\ud83d\\ude00"}}`)),
    ok("an escaped backslash before ud800", (fields) => bytes(`{${fields}"meta":{"a":"\\\\ud800"}}`)),
    wrong("null", () => bytes("null")),
    wrong("a list", () => bytes("[]")),
    wrong("a number", () => bytes("1")),
    wrong("true", () => bytes("true")),
    wrong("a string", () => bytes(`"x"`)),
    wrong("null after a byte order mark", () => bytes(BOM, "null")),
    blank("no bytes", bytes("")),
    blank("whitespace", bytes(" \r\n\t")),
    blank("a byte order mark alone", bytes(BOM)),
    wrong("a no-break space", () => bytes("\u00a0")),
    wrong("a NUL", () => bytes([0])),
    wrong("a letter after the body", (fields) => bytes(`{${fields}"meta":{}}x`)),
    wrong("a body cut short", (fields) => bytes(`{${fields}"meta":{}`)),
    ok("a duplicate key", (fields) => bytes(`{${fields}"excludeDebugFields":true,"excludeDebugFields":false}`)),
    wrong("a duplicate key whose last value does not fit", (fields) => bytes(`{${fields}"meta":{},"meta":5}`)),
    ok("a duplicate unknown key", (fields) => bytes(`{${fields}"other":1,"other":[{"a":1,"a":2}]}`)),
    wrong("both names of a field", (fields) =>
      bytes(`{${fields}"excludeDebugFields":true,"exclude_debug_fields":true}`),
    ),
    ok("__proto__ as a key", (fields) => bytes(`{${fields}"__proto__":{"excludeDebugFields":5}}`)),
    ok("__proto__ in an object", (fields) => bytes(`{${fields}"meta":{"__proto__":{"a":1}}}`)),
    ok("__proto__ with deep nesting", (fields) => bytes(`{${fields}"meta":{"__proto__":${nested('{"a":', "}", 60)}}}`)),
    ok("objects at the limit of nesting", (fields) => bytes(`{${fields}"meta":${nested('{"a":', "}", 48)}}`)),
    wrong("objects past the limit of nesting", (fields) => bytes(`{${fields}"meta":${nested('{"a":', "}", 49)}}`)),
    wrong("lists past the limit of nesting", (fields) => bytes(`{${fields}"meta":{"a":${nested("[", "]", 48)}}}`)),
    wrong("objects nested 20,000 levels deep", (fields) => bytes(`{${fields}"meta":${nested('{"a":', "}", 20_000)}}`)),
    wrong("an unknown field past the limit of a body", (fields) =>
      bytes(`{${fields}"other":${nested("[", "]", 65_536)}}`),
    ),
    wrong("100,000 opening brackets", () => bytes("[".repeat(100_000))),
    wrong("a number for a boolean", (fields) => bytes(`{${fields}"excludeDebugFields":1}`)),
    wrong("a list for an object", (fields) => bytes(`{${fields}"meta":[]}`)),
    ok("null for fields", (fields) => bytes(`{${fields}"meta":null,"excludeDebugFields":null}`)),
    ok("a number past the range of doubles", (fields) => bytes(`{${fields}"meta":{"a":1e999}}`)),
  ];
  const table = rows.map((row): [string, Row] => [row.what, row]);

  describe.each(Object.entries(overRest))("over %s", (_name, send) => {
    test.each(table)("%s", async (_what, { body, outcome, rest = outcome }) => {
      expect(outcomeOf(await send(body("")))).toBe(rest);
    });
  });

  describe.each(Object.entries(jsonOverRpc))("over %s", (_name, send) => {
    test.each(table)("%s", async (_what, { body, outcome }) => {
      expect(outcomeOf(await send(body(fieldsOfPath)))).toBe(outcome);
    });
  });
});

describe("binary messages", () => {
  const [VARINT, DELIMITED, GROUP, END_GROUP] = [0, 2, 3, 4];

  const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]);
  const tag = (number: number, type: number): number[] => varint((number << 3) | type);
  function field(number: number, ...parts: readonly (string | readonly number[] | Buffer)[]): Buffer {
    const value = Buffer.concat(
      parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))),
    );
    return bytes([...tag(number, DELIMITED), ...varint(value.length)], value);
  }
  // The fields of the request, of Struct and of Value.
  const REGISTRAR = 1;
  const INSTRUCTION = 2;
  const META = 3;
  const EXCLUDE_DEBUG_FIELDS = 4;
  const stringValue = (...text: Parameters<typeof field> extends [number, ...infer Parts] ? Parts : never): Buffer =>
    field(3, ...text);
  const entry = (key: Buffer, value: Buffer): Buffer => field(1, key, field(2, value));
  const struct = (name: string, value: Buffer): Buffer => entry(field(1, name), value);
  const nestedStructs = (depth: number): Buffer =>
    depth === 0 ? Buffer.alloc(0) : struct("a", depth === 1 ? stringValue("x") : field(5, nestedStructs(depth - 1)));
  const groups = (depth: number): Buffer =>
    bytes(
      Array.from({ length: depth }, () => tag(9, GROUP)).flat(),
      Array.from({ length: depth }, () => tag(9, END_GROUP)).flat(),
    );

  const valid = bytes(field(REGISTRAR, acme), field(INSTRUCTION, offer));

  const rows: readonly (readonly [what: string, body: Buffer, outcome: "ok" | "invalid_argument" | "not_found"])[] = [
    ["a plain message", valid, "ok"],
    ["an empty message, which lacks required fields", Buffer.alloc(0), "invalid_argument"],

    ...invalidUtf8.flatMap(([what, invalid]): [string, Buffer, "invalid_argument"][] => [
      [`${what} in a field`, bytes(valid, field(INSTRUCTION, "x", invalid)), "invalid_argument"],
      [
        `${what} in a value of an object`,
        bytes(valid, field(META, struct("a", stringValue("x", invalid)))),
        "invalid_argument",
      ],
      [
        `${what} in a key of an object`,
        bytes(valid, field(META, entry(field(1, "x", invalid), stringValue("a")))),
        "invalid_argument",
      ],
    ]),
    ["bytes that are not UTF-8 in an unknown field", bytes(valid, field(15, [0xff, 0xfe])), "ok"],
    ["the replacement character", bytes(valid, field(META, struct("\ufffd", stringValue("\ufffd")))), "ok"],
    ["a byte order mark in a field, which is a part of it", bytes(valid, field(REGISTRAR, BOM, "x")), "not_found"],
    [
      "a byte order mark before a right value",
      bytes(valid, field(REGISTRAR, BOM, party("acme-registrar"))),
      "not_found",
    ],
    ["a zero after the message", bytes(valid, [0]), "invalid_argument"],
    ["the byte FF after the message", bytes(valid, [0xff]), "invalid_argument"],
    ["a length past the end", bytes(valid, tag(META, DELIMITED), [5]), "invalid_argument"],
    ["a string with the type of a number", bytes(valid, tag(REGISTRAR, VARINT), [1]), "invalid_argument"],
    ["an unknown field", bytes(valid, field(15, "x")), "ok"],
    ["a field twice: the last counts", bytes(field(REGISTRAR, "other"), valid), "ok"],
    ["a field twice, the last wrong", bytes(valid, field(REGISTRAR, "other")), "not_found"],
    ["a boolean of 2", bytes(valid, tag(EXCLUDE_DEBUG_FIELDS, VARINT), [2]), "ok"],
    [
      "a key twice in an object",
      bytes(valid, field(META, struct("a", stringValue("x")), struct("a", stringValue("y")))),
      "ok",
    ],
    ["__proto__ in an object", bytes(valid, field(META, struct("__proto__", stringValue("x")))), "ok"],

    ["objects at the limit of nesting", bytes(valid, field(META, nestedStructs(48))), "ok"],
    ["objects past the limit of nesting", bytes(valid, field(META, nestedStructs(49))), "invalid_argument"],
    ["objects nested 300 levels deep", bytes(valid, field(META, nestedStructs(300))), "invalid_argument"],
    ["an unknown group nested 1,000 levels deep", bytes(valid, groups(1_000)), "invalid_argument"],
    ["an unknown group that does not end", bytes(valid, tag(9, GROUP)), "invalid_argument"],
  ];

  describe.each(Object.entries(protoOverRpc))("over %s", (_name, send) => {
    test.each(rows)("%s", async (_what, body, outcome) => {
      expect(outcomeOf(await send(body))).toBe(outcome);
    });
  });

  // The codes for no message, for two and for a compressed one are those that gRPC prescribes.
  test.each<[what: string, body: Buffer, outcome: string]>([
    ["a message", frame(valid), "ok"],
    ["no bytes", Buffer.alloc(0), "unimplemented"],
    ["a frame header cut short", frame(valid).subarray(0, 3), "invalid_argument"],
    ["a message cut short", frame(valid).subarray(0, -1), "invalid_argument"],
    ["a byte after the message", bytes(frame(valid), [0]), "unimplemented"],
    ["a second message", bytes(frame(valid), frame(valid)), "unimplemented"],
    ["a compressed message without its encoding", frame(valid, 1), "internal"],
    ["a length past the limit on bodies", bytes([0, 0xff, 0xff, 0xff, 0xff], valid), "invalid_argument"],
    ["a reserved flag", frame(valid, 2), "ok"],
  ])("%s over gRPC", async (_what, body, outcome) => {
    expect(outcomeOf(await by2(rpcPath, typed("application/grpc"), body))).toBe(outcome);
  });
});

const errorOf = (response: HttpResponse) => (JSON.parse(response.body) as { readonly error: string }).error;

describe("the content type", () => {
  const body = Buffer.from(rpcMessage);

  test.each(Object.entries(overRest))("of %s is JSON in UTF-8", async (_name, send) => {
    for (const parameters of ["", "; charset=UTF-8", ';charset="utf-8"', "; odata=verbose"])
      expect([parameters, outcomeOf(await send(body, `application/json${parameters}`))]).toEqual([parameters, "ok"]);
    for (const parameters of ["; charset=iso-8859-1", "; odata=verbose; charset=utf-16"]) {
      const response = await send(body, `application/json${parameters}`);
      expect([response.status, errorOf(response)]).toEqual([
        415,
        expect.stringMatching(/^the charset of the body must be utf-8, but is "/),
      ]);
    }
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"]) {
      const response = await send(body, type);
      const error = `the content-type must be application/json, but is "${type}"`;
      expect([response.status, errorOf(response)]).toEqual([415, error]);
    }
    expect((await send(Buffer.alloc(0), "application/json; charset=utf-16")).status).toBe(200);
  });

  test("of an rpc is JSON in UTF-8 too, or one of its protocols", async () => {
    for (const send of [by1, by2]) {
      for (const type of ["application/json", "application/json;charset=UTF-8"])
        expect(outcomeOf(await send(rpcPath, typed(type), body))).toBe("ok");
      for (const type of [
        "text/plain",
        "application/jsonx",
        "application/connect+json",
        "application/json; charset=latin1",
      ])
        expect([type, (await send(rpcPath, typed(type), body)).status]).toEqual([type, 415]);
    }
  });
});

describe("a GET of an rpc", () => {
  const query = (params: Readonly<Record<string, string>>) => `${rpcPath}?${new URLSearchParams(params).toString()}`;

  test.each<[string, string, number]>([
    ["with its query", query({ encoding: "json", message: rpcMessage }), 200],
    ["with a percent sign that encodes nothing", `${query({ encoding: "json", message: rpcMessage })}&other=100%`, 200],
    ["by a browser, without a query", rpcPath, 415],
    ["of another encoding", query({ encoding: "xml", message: rpcMessage }), 415],
    ["without message", query({ encoding: "json" }), 400],
    ["with half a surrogate pair", query({ encoding: "json", message: '{"registrarParty":"\\ud800"}' }), 400],
  ])("%s", async (_what, path, status) => {
    const responses = [await requestHttp1(running.url, path), await requestHttp2(session, path, { ":method": "GET" })];
    expect(responses.map((response) => response.status)).toEqual([status, status]);
  });
});
