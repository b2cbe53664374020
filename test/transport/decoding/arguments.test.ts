/** JSON with choice arguments: nesting, size, and decimals as numbers. */
import { type DescMethodUnary, type JsonObject, toJson } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { AllocationService } from "../../../gen/offledger/allocation/v2/allocation_service_pb.js";
import { BurnMintInstructionService } from "../../../gen/offledger/burn_mint_instruction/v0/burn_mint_instruction_service_pb.js";
import { TransferService } from "../../../gen/offledger/transfer/v0/transfer_service_pb.js";
import { TransferInstructionService } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { type JsonValue, scanJson } from "../../../src/util/json.js";
import { fromJsonBytes, fromJsonValue, parseJson } from "../../../src/transport/decoding/decode.js";
import { argumentLimitCheck } from "../../../src/transport/decoding/validation.js";

test.for([
  ["lists at the limit", "[[[[1]]]]", false],
  ["objects at the limit", '{"a":{"a":{"a":{"a":1}}}}', false],
  ["lists and objects in turn", '[{"a":[{"a":[]}]}]', true],
  ["many beside each other", "[[],[],[],[],[],[[[]]]]", false],
  ["past it, after others have ended", "[[[]],[[[[]]]]]", true],
  ["brackets in a string", '["[[[[[[[[", "{{{{{"]', false],
  ["brackets after an escaped quote", '["\\"[[[[[[[["]', false],
  ["brackets after an escaped backslash", '["\\\\",[[[[[]]]]]', true],
  ["a key with brackets", '{"[[[[[[":1}', false],
  ["characters of several bytes", '["é€😀",[[["é"]]]]', false],
  ["cut short", "[[[[[", true],
  ["a string without an end", '["[[[[[[[[[', false],
  ["an escape at the end", '["[[[[[[[[[\\', false],
  ["text that is shorter than the limit", "[[[[", false],
] as const)("nesting beyond 4: %s", ([, json, expected]) => {
  expect(scanJson(Buffer.from(json), { depth: 4, keys: 100 }).exceeded).toBe(expected ? "depth" : undefined);
});

test.for([
  ["[]", 0],
  ["[ ]", 0],
  ["1", 0],
  ['""', 0],
  ["[1]", 1],
  ['["a,b", "c\\",d", "\\\\"]', 3],
  ["[[],[ ],{},[1]]", 5],
  ['{"a":{},"b":{"c":null}}', 3],
  ['{"é,":[true,"€{"],"b":-1.5e3}', 4],
  ['{ "a" : [ { } , 1 ] }', 3],
] as const)("keys and elements of %s: %d", ([json, count]) => {
  const exceeds = (keys: number) => scanJson(Buffer.from(json), { depth: 10, keys }).exceeded;
  expect([exceeds(count), exceeds(count - 1)]).toEqual([undefined, count === 0 ? undefined : "keys"]);
});

test.each<[string, JsonValue]>([
  ['{"a":1234567890123456}', { a: "1234567890123456" }],
  ["[-0.1234567890123456 , 1]", ["-0.1234567890123456", 1]],
  ["1234567890.1234567890", "1234567890.1234567890"],
  ["[1234567890123456e2,0.12345678901234567E-3]", [123456789012345600, 0.00012345678901234567]],
  [
    '{"1234567890123456":"a 1234567890123456\\" 1234567890123456"}',
    { "1234567890123456": 'a 1234567890123456" 1234567890123456' },
  ],
  ['["\\\\",1234567890123456]', ["\\", "1234567890123456"]],
  ['["é€😀",1234567890123456,"é"]', ["é€😀", "1234567890123456", "é"]],
  ["[123456789012345,-123456789012345,123456789012.45]", [123456789012345, -123456789012345, 123456789012.45]],
])("a long number keeps its digits: %s", (text, value) => expect(parseJson(Buffer.from(text))).toEqual(value));

// Quotes would make JSON of some.
test.each([
  "{1234567890123456:1}",
  "{1234567890123456 :1}",
  '{"a":1,1234567890123456\n:1}',
  "[01234567890123456]",
  "[-01234567890123456.5]",
  "[1234567890123456.]",
  "[.1234567890123456]",
  "[1234567890.12345.67890]",
  "[1234567890123456-1]",
  "[+1234567890123456]",
  "[1234567890123456e]",
  "[1 1234567890123456]",
  '["a"1234567890123456]',
  "1234567890123456x",
])("a long number does not make JSON of %s", (text) => {
  expect(() => parseJson(Buffer.from(text))).toThrow("the body must be JSON");
});

test("an error of JSON tells the place in the text that was sent", () => {
  const wrong = `{"a":${"1234567890123456,".repeat(3)}x}`;
  const problem = (() => {
    try {
      return String(JSON.parse(wrong));
    } catch (error) {
      return (error as Error).message;
    }
  })();
  expect(() => parseJson(Buffer.from(wrong))).toThrow(problem);
});

describe("limits on nesting, and on keys and elements", () => {
  const { input } = TransferInstructionService.method.getTransferFactory;
  const check = argumentLimitCheck(input, { depth: 4, keys: 6 });
  const [tooDeep, tooMany] = ["is nested deeper than the limit of 4", "has more keys and elements than the limit of 6"];

  // The arguments themselves are the first level.
  test.each<[JsonObject, string | undefined]>([
    [{ choiceArguments: { a: [[[1]], {}] } }, undefined],
    [{ choiceArguments: { a: [[[[]]]] } }, `choiceArguments ${tooDeep}`],
    [{ choiceArguments: { a: { a: { a: { a: 1 } } } } }, undefined],
    [{ choiceArguments: { a: { a: { a: { a: {} } } } } }, `choiceArguments ${tooDeep}`],
    [{ choiceArguments: { a: [1, null, "a"], b: { c: [] } } }, undefined],
    [{ choiceArguments: { a: [1, null, "a"], b: { c: [1] } } }, `choiceArguments ${tooMany}`],
    [{ transferV1: { transfer: { inputHoldingCids: ["1", "2", "3", "4", "5", "6"] } } }, `transferV1 ${tooMany}`],
  ])("%j: %s", (json, problem) => {
    const message = fromJsonValue(input, json);
    let found: string | undefined;
    try {
      check(message);
    } catch (error) {
      found = ConnectError.from(error).rawMessage;
    }
    expect(found).toBe(problem);
  });
});

/** What is written, and what is read. */
const numbers: readonly (readonly [written: string, read: string])[] = [
  ["1e-7", "0.0000001"],
  ["1.5e3", "1500"],
  ["-1.25e22", "-12500000000000000000000"],
  // A double has other digits.
  ["123456789.1234567891", "123456789.1234567891"],
  ["12345678901234567.0000000001", "12345678901234567.0000000001"],
  ['"0.50"', "0.50"],
];
const instrument = '{"admin":"a::1","id":"I"}';

/** JSON with # for the decimal, and where it is in the message, in JSON. */
test.each<[string, DescMethodUnary, json: string, at: readonly (string | number)[]]>([
  [
    "an output of burn-mint",
    BurnMintInstructionService.method.getBurnMintFactory,
    `{"instrumentId":${instrument},"outputs":[{"owner":"b::1","amount":"1.0"},{"owner":"c::1","amount":#}]}`,
    ["outputs", 1, "amount"],
  ],
  [
    "the transfer of a proof",
    TransferService.method.verifyTransferProof,
    `{"transfer":{"amount":#,"instrument_id":${instrument},"meta":{"values":{"note":"1e-7"}}}}`,
    ["transfer", "amount"],
  ],
  [
    "a typed transfer",
    TransferInstructionService.method.getTransferFactory,
    `{"transferV1":{"transfer":{"sender":"a::1","amount":#,"instrumentId":${instrument}}}}`,
    ["transferV1", "transfer", "amount"],
  ],
  [
    "a leg of a typed settlement",
    AllocationService.method.getSettlementFactory,
    '{"settleBatchV2":{"transferLegs":[{"sender":{"owner":"a::1"},"amount":#,"instrumentId":"I"}]}}',
    ["settleBatchV2", "transferLegs", 0, "amount"],
  ],
])("a decimal that is a number is read as it is written, in %s", (_what, { input }, text, at) => {
  const readAs = (written: string) => fromJsonBytes(input, Buffer.from(text.replace("#", written)));
  for (const [written, read] of numbers) {
    const json: unknown = toJson(input, readAs(written));
    expect(at.reduce((value, key) => (value as never)[key], json)).toBe(read);
  }
  for (const wrong of ["true", "[1]", "1e400"]) expect(() => readAs(wrong)).toThrow(ConnectError);
});
