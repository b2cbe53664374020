/** What is found in JSON before it is parsed: nesting that is too deep, and numbers with more digits than a double has. */
import { describe, expect, test } from "vitest";
import { isNestedDeeper, quoteLongNumbers } from "../../../src/transport/decoding/json.js";

const LIMIT = 4;

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
] as const)("%s", ([, json, expected]) => {
  expect(isNestedDeeper(Buffer.from(json), LIMIT)).toBe(expected);
});

test("text that is shorter than the limit is not searched", () => {
  expect(isNestedDeeper(Buffer.from("[[[["), LIMIT)).toBe(false);
});

describe("a long number", () => {
  test.each([
    ['{"a":1234567890123456}', '{"a":"1234567890123456"}'],
    ["[-0.1234567890123456 , 1]", '["-0.1234567890123456" , 1]'],
    ["1234567890.1234567890", '"1234567890.1234567890"'],
    ["[1234567890123456e2,0.12345678901234567E-3]", "[1234567890123456e2,0.12345678901234567E-3]"],
    ['{"1234567890123456":"a 1234567890123456\\" 1234567890123456"}', undefined],
    ['["\\\\",1234567890123456]', '["\\\\","1234567890123456"]'],
    ["[123456789012345]", undefined],
  ])("%s gets quotes", (text, quoted = text) => {
    expect(quoteLongNumbers(text)).toBe(quoted);
  });
});
