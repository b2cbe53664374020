import { expect, test } from "vitest";
import { isUnmodified } from "../../../src/transport/static/is-unmodified.js";

test.each([
  [undefined, false],
  ["", false],
  ['W/"a"', true],
  ['"a"', true],
  ['"b", W/"a"', true],
  ["*", true],
  ['W/"b"', false],
  ["a", false],
])("If-None-Match: %s", (header, expected) => expect(isUnmodified(header, 'W/"a"')).toBe(expected));
