import { expect, test } from "vitest";
import { byteRange } from "../../../src/transport/static/byte-range.js";

test.each([
  ["bytes=0-99", 0, 100],
  ["bytes=5-5", 5, 6],
  ["bytes=900-", 900, 1_000],
  ["bytes=900-5000", 900, 1_000],
  ["bytes=-100", 900, 1_000],
  ["bytes=-5000", 0, 1_000],
])("%s of 1000 bytes is from %i to %i", (header, start, end) => {
  expect(byteRange(header, 1_000)).toEqual({ start, end });
});

test.each([
  undefined,
  "",
  "bytes=-",
  "bytes=-0",
  "bytes=1000-",
  "bytes=5-4",
  "bytes=0-1,5-6",
  "bytes=a-b",
  "items=0-1",
  `bytes=${"9".repeat(30)}-`,
])("%s is ignored", (header) => expect(byteRange(header, 1_000)).toBeUndefined());
