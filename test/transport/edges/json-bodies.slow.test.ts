/** JSON bodies at the edges of what is allowed: one outcome over every protocol, on the fast path and beside it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId, party } from "../../../demo/element.js";
import { registry, type Running, serveFile } from "../../fixtures/run-service.js";
import { Client, outcomeOf, overRest, overRpc, type Send } from "./senders.js";

const acme = party("acme-registrar");
const offer = contractId("offer bond to bob");
const target = {
  rest: `${registry(acme)}/transfer-instruction/v2/${offer}/choice-contexts/reject`,
  rpc: "/offledger.transfer_instruction.v2.TransferInstructionService/GetTransferInstructionRejectContext",
};
/** What an rpc has in its message, and REST in its path. */
const fieldsOfPath = `"registrarParty":${JSON.stringify(acme)},"transferInstructionId":"${offer}",`;

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

const bytes = (...parts: readonly (string | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))));
const nested = (open: string, close: string, depth: number): string => `${open.repeat(depth)}1${close.repeat(depth)}`;

/** Bytes that are not UTF-8. */
const invalidUtf8: readonly (readonly [what: string, bytes: readonly number[]])[] = [
  ["a byte of Latin-1", [0xe9]],
  ["the byte FF", [0xff]],
  ["a continuation byte alone", [0x80]],
  ["a character cut short", [0xe2, 0x82]],
  ["an overlong form", [0xc0, 0xaf]],
  ["a surrogate in UTF-8", [0xed, 0xa0, 0x80]],
  ["a code point past the last", [0xf4, 0x90, 0x80, 0x80]],
];

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

const BOM = [0xef, 0xbb, 0xbf];

const rows: readonly Row[] = [
  ok("a plain body", (fields) => bytes(`{${fields}"excludeDebugFields":true}`)),
  ok("whitespace around the body", (fields) => bytes(` \r\n\t{${fields}"meta":{}} \r\n\t`)),

  ok("a byte order mark before the body", (fields) => bytes(BOM, `{${fields}"meta":{}}`)),
  ok("a byte order mark before whitespace", (fields) => bytes(BOM, ` {${fields}"meta":{}}`)),
  wrong("two byte order marks", (fields) => bytes(BOM, BOM, `{${fields}"meta":{}}`)),
  wrong("a byte order mark after the body", (fields) => bytes(`{${fields}"meta":{}}`, BOM)),
  wrong("a byte order mark cut short", (fields) => bytes(BOM.slice(0, 2), `{${fields}"meta":{}}`)),
  wrong("UTF-16 with a byte order mark", (fields) =>
    Buffer.concat([bytes([0xff, 0xfe]), Buffer.from(`{${fields}"meta":{}}`, "utf16le")]),
  ),
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
  wrong("half a surrogate pair in capitals", (fields) => bytes(`{${fields}"meta":{"a":"x\\uDFFFy"}}`)),
  wrong("half a surrogate pair in a key", (fields) => bytes(`{${fields}"meta":{"\\ud83d":1}}`)),
  wrong("half a surrogate pair in a list", (fields) => bytes(`{${fields}"meta":{"a":[["\\ude00"]]}}`)),
  wrong("half a surrogate pair in an unknown field", (fields) => bytes(`{${fields}"other":"\\ud800"}`)),
  wrong("a surrogate pair in the wrong order", (fields) => bytes(`{${fields}"meta":{"a":"\\ude00\\ud83d"}}`)),
  ok("a surrogate pair", (fields) => bytes(`{${fields}"meta":{"a":"\\ud83d\\ude00"}}`)),
  ok("an escaped backslash before ud800", (fields) => bytes(`{${fields}"meta":{"a":"\\\\ud800"}}`)),
  ok("an escaped NUL", (fields) => bytes(`{${fields}"meta":{"a":"\\u0000"}}`)),

  wrong("null", () => bytes("null")),
  wrong("a list", () => bytes("[]")),
  wrong("a list of the body", (fields) => bytes(`[{${fields}"meta":{}}]`)),
  wrong("a number", () => bytes("1")),
  wrong("zero", () => bytes("0")),
  wrong("true", () => bytes("true")),
  wrong("false", () => bytes("false")),
  wrong("a string", () => bytes(`"x"`)),
  wrong("an empty string", () => bytes(`""`)),
  wrong("null after a byte order mark", () => bytes(BOM, "null")),

  blank("no bytes", bytes("")),
  blank("whitespace", bytes(" \r\n\t")),
  blank("a byte order mark alone", bytes(BOM)),
  wrong("a no-break space", () => bytes("\u00a0")),
  wrong("a line separator", () => bytes("\u2028")),
  wrong("a NUL", () => bytes([0])),

  wrong("a letter after the body", (fields) => bytes(`{${fields}"meta":{}}x`)),
  wrong("a brace after the body", (fields) => bytes(`{${fields}"meta":{}}}`)),
  wrong("a second body", (fields) => bytes(`{${fields}"meta":{}}{${fields}"meta":{}}`)),
  wrong("a second body on the next line", (fields) => bytes(`{${fields}"meta":{}}\n{}`)),
  wrong("a NUL after the body", (fields) => bytes(`{${fields}"meta":{}}\0`)),
  wrong("a body cut short", (fields) => bytes(`{${fields}"meta":{}`)),
  wrong("a trailing comma", (fields) => bytes(`{${fields}"meta":{},}`)),
  wrong("a comment", (fields) => bytes(`{${fields}"meta":{}/**/}`)),
  wrong("single quotes", (fields) => bytes(`{${fields}'meta':{}}`)),
  wrong("NaN", (fields) => bytes(`{${fields}"meta":{"a":NaN}}`)),
  wrong("a line break in a string", (fields) => bytes(`{${fields}"meta":{"a":"\n"}}`)),
  wrong("a number with a leading zero", (fields) => bytes(`{${fields}"meta":{"a":01}}`)),
  wrong("a form", () => bytes("meta=1&excludeDebugFields=true")),

  ok("a duplicate key", (fields) => bytes(`{${fields}"excludeDebugFields":true,"excludeDebugFields":false}`)),
  ok("a duplicate key whose last value fits", (fields) => bytes(`{${fields}"meta":5,"meta":{}}`)),
  wrong("a duplicate key whose last value does not fit", (fields) => bytes(`{${fields}"meta":{},"meta":5}`)),
  ok("a duplicate key in an object", (fields) => bytes(`{${fields}"meta":{"a":1,"a":2}}`)),
  ok("a duplicate key, once with an escape", (fields) => bytes(`{${fields}"meta":5,"m\\u0065ta":{}}`)),
  ok("a duplicate unknown key", (fields) => bytes(`{${fields}"other":1,"other":[{"a":1,"a":2}]}`)),
  wrong("both names of a field", (fields) => bytes(`{${fields}"excludeDebugFields":true,"exclude_debug_fields":true}`)),

  ok("__proto__ as a key", (fields) => bytes(`{${fields}"__proto__":{"excludeDebugFields":5}}`)),
  ok("__proto__ in an object", (fields) => bytes(`{${fields}"meta":{"__proto__":{"a":1}}}`)),
  ok("__proto__ with deep nesting", (fields) => bytes(`{${fields}"meta":{"__proto__":${nested('{"a":', "}", 60)}}}`)),

  ok("objects at the limit of nesting", (fields) => bytes(`{${fields}"meta":${nested('{"a":', "}", 48)}}`)),
  wrong("objects past the limit of nesting", (fields) => bytes(`{${fields}"meta":${nested('{"a":', "}", 49)}}`)),
  wrong("lists past the limit of nesting", (fields) => bytes(`{${fields}"meta":{"a":${nested("[", "]", 48)}}}`)),
  wrong("objects nested 120 levels deep", (fields) => bytes(`{${fields}"meta":${nested('{"a":', "}", 120)}}`)),
  wrong("objects nested 20,000 levels deep", (fields) => bytes(`{${fields}"meta":${nested('{"a":', "}", 20_000)}}`)),
  wrong("an unknown field past the limit of a body", (fields) =>
    bytes(`{${fields}"other":${nested("[", "]", 65_536)}}`),
  ),
  wrong("100,000 opening brackets", () => bytes("[".repeat(100_000))),

  wrong("a number for a boolean", (fields) => bytes(`{${fields}"excludeDebugFields":1}`)),
  wrong("a string for a boolean", (fields) => bytes(`{${fields}"excludeDebugFields":"true"}`)),
  wrong("a list for an object", (fields) => bytes(`{${fields}"meta":[]}`)),
  ok("null for fields", (fields) => bytes(`{${fields}"meta":null,"excludeDebugFields":null}`)),
  ok("a number past the range of doubles", (fields) => bytes(`{${fields}"meta":{"a":1e999}}`)),
];

const table = rows.map((row): [string, Row] => [row.what, row]);

describe.each(Object.entries(overRest(target)))("%s", (_name, send: Send) => {
  test.each(table)("%s", async (_what, { body, outcome, rest = outcome }) => {
    expect(outcomeOf(await send(client, body("")))).toBe(rest);
  });
});

describe.each(Object.entries(overRpc(target, "json")))("%s", (_name, send: Send) => {
  test.each(table)("%s", async (_what, { body, outcome }) => {
    expect(outcomeOf(await send(client, body(fieldsOfPath)))).toBe(outcome);
  });
});
