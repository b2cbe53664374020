/** Binary messages at the edges of what is allowed: one outcome over Connect and gRPC. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId, party } from "../../../demo/element.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";
import { Client, frame, outcomeOf, overRpc, type Send } from "./senders.js";

const rpc = "/offledger.transfer_instruction.v2.TransferInstructionService/GetTransferInstructionRejectContext";
const target = { rest: "", rpc };

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

const [VARINT, DELIMITED, GROUP, END_GROUP] = [0, 2, 3, 4];

const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]);
const tag = (number: number, type: number): number[] => varint((number << 3) | type);
function field(number: number, ...parts: readonly (string | readonly number[] | Buffer)[]): Buffer {
  const value = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))));
  return Buffer.concat([Buffer.from([...tag(number, DELIMITED), ...varint(value.length)]), value]);
}
const join = (...parts: readonly (Buffer | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part)));

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
  join(
    Array.from({ length: depth }, () => tag(9, GROUP)).flat(),
    Array.from({ length: depth }, () => tag(9, END_GROUP)).flat(),
  );

const valid = join(field(REGISTRAR, party("acme-registrar")), field(INSTRUCTION, contractId("offer bond to bob")));
const BOM = [0xef, 0xbb, 0xbf];

const invalidUtf8: readonly (readonly [what: string, bytes: readonly number[]])[] = [
  ["a byte of Latin-1", [0xe9]],
  ["a character cut short", [0xe2, 0x82]],
  ["an overlong form", [0xc0, 0xaf]],
  ["a surrogate in UTF-8", [0xed, 0xa0, 0x80]],
  ["a code point past the last", [0xf4, 0x90, 0x80, 0x80]],
];

const rows: readonly (readonly [what: string, body: Buffer, outcome: "ok" | "invalid_argument" | "not_found"])[] = [
  ["a plain message", valid, "ok"],
  ["an empty message, which lacks required fields", Buffer.alloc(0), "invalid_argument"],

  ...invalidUtf8.flatMap(([what, invalid]): [string, Buffer, "invalid_argument"][] => [
    [`${what} in a field`, join(valid, field(INSTRUCTION, "x", invalid)), "invalid_argument"],
    [
      `${what} in a value of an object`,
      join(valid, field(META, struct("a", stringValue("x", invalid)))),
      "invalid_argument",
    ],
    [
      `${what} in a key of an object`,
      join(valid, field(META, entry(field(1, "x", invalid), stringValue("a")))),
      "invalid_argument",
    ],
  ]),
  ["bytes that are not UTF-8 in an unknown field", join(valid, field(15, [0xff, 0xfe])), "ok"],
  ["the replacement character", join(valid, field(META, struct("\ufffd", stringValue("\ufffd")))), "ok"],
  ["a byte order mark in a field, which is a part of it", join(valid, field(REGISTRAR, BOM, "x")), "not_found"],
  ["a byte order mark before a right value", join(valid, field(REGISTRAR, BOM, party("acme-registrar"))), "not_found"],
  ["a byte order mark before the message", join(BOM, valid), "invalid_argument"],

  ["a zero after the message", join(valid, [0]), "invalid_argument"],
  ["the byte FF after the message", join(valid, [0xff]), "invalid_argument"],
  ["a message cut short", valid.subarray(0, -1), "invalid_argument"],
  ["a tag without its value", join(valid, tag(META, DELIMITED)), "invalid_argument"],
  ["a length past the end", join(valid, tag(META, DELIMITED), [5]), "invalid_argument"],
  ["a string with the type of a number", join(valid, tag(REGISTRAR, VARINT), [1]), "invalid_argument"],
  ["JSON", Buffer.from('{"meta":{}}'), "invalid_argument"],

  ["an unknown field", join(valid, field(15, "x")), "ok"],
  ["a field twice: the last counts", join(field(REGISTRAR, "other"), valid), "ok"],
  ["a field twice, the last wrong", join(valid, field(REGISTRAR, "other")), "not_found"],
  ["a boolean of 2", join(valid, tag(EXCLUDE_DEBUG_FIELDS, VARINT), [2]), "ok"],
  [
    "a key twice in an object",
    join(valid, field(META, struct("a", stringValue("x")), struct("a", stringValue("y")))),
    "ok",
  ],
  ["__proto__ in an object", join(valid, field(META, struct("__proto__", stringValue("x")))), "ok"],

  ["objects at the limit of nesting", join(valid, field(META, nestedStructs(48))), "ok"],
  ["objects past the limit of nesting", join(valid, field(META, nestedStructs(49))), "invalid_argument"],
  ["objects nested 300 levels deep", join(valid, field(META, nestedStructs(300))), "invalid_argument"],
  ["an unknown group nested 20 levels deep", join(valid, groups(20)), "ok"],
  ["an unknown group nested 1,000 levels deep", join(valid, groups(1_000)), "invalid_argument"],
  ["an unknown group that does not end", join(valid, tag(9, GROUP)), "invalid_argument"],
];

describe.each(Object.entries(overRpc(target, "proto")))("%s", (_name, send: Send) => {
  test.each(rows)("%s", async (_what, body, outcome) => {
    expect(outcomeOf(await send(client, body))).toBe(outcome);
  });
});

/** Frames of gRPC. The codes for no message, for two and for a compressed one are those that gRPC prescribes. */
test.each<[what: string, body: Buffer, outcome: string]>([
  ["a message", frame(valid), "ok"],
  ["no bytes", Buffer.alloc(0), "unimplemented"],
  ["a frame header cut short", frame(valid).subarray(0, 3), "invalid_argument"],
  ["a message cut short", frame(valid).subarray(0, -1), "invalid_argument"],
  ["a byte after the message", join(frame(valid), [0]), "unimplemented"],
  ["a second message", join(frame(valid), frame(valid)), "unimplemented"],
  ["a compressed message without its encoding", frame(valid, 1), "internal"],
  ["a length past the limit on bodies", join([0, 0xff, 0xff, 0xff, 0xff], valid), "invalid_argument"],
  ["a reserved flag", frame(valid, 2), "ok"],
])("%s over gRPC", async (_what, body, outcome) => {
  const headers = { "content-type": "application/grpc" };
  expect(outcomeOf(await client.http2({ path: rpc, headers, body }))).toBe(outcome);
});
