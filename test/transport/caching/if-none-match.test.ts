import { expect, test } from "vitest";
import { matchesEtag } from "../../../src/transport/caching/if-none-match.js";

test.each([
  [undefined, false],
  ["", false],
  ['W/"a"', true],
  ['"a"', true],
  ['"b", W/"a"', true],
  ["*", true],
  ['W/"b"', false],
  ["a", false],
  [['"b"', 'W/"a"'], true],
])("If-None-Match: %s", (header, expected) => expect(matchesEtag(header, 'W/"a"')).toBe(expected));
