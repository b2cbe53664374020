/** JSON that is nested too deep is found before it is parsed, and its strings are not mistaken for structure. */
import { expect, test } from "vitest";
import { isNestedDeeper } from "../../../src/transport/decoding/json.js";

const LIMIT = 4;

test.for([
  ["lists at the limit", "[[[[1]]]]", false],
  ["lists past it", "[[[[[1]]]]]", true],
  ["objects at the limit", '{"a":{"a":{"a":{"a":1}}}}', false],
  ["objects past it", '{"a":{"a":{"a":{"a":{}}}}}', true],
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

test("nothing that is too short for it is searched", () => {
  expect(isNestedDeeper(Buffer.from("[[[["), 4)).toBe(false);
  expect(isNestedDeeper(Buffer.from("[[[[["), 4)).toBe(true);
});
