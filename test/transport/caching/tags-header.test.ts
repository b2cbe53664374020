import { expect, test } from "vitest";
import { tagsHeader } from "../../../src/transport/caching/tags-header.js";

const tagsFrom = (first: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => (first + index * 104_729).toString(16).padStart(8, "0"));
const numbers = (tags: readonly string[]): number[] => tags.map((tag) => Buffer.from(tag, "hex").readInt32BE());

test("90 tags are listed", () => {
  const tags = [...tagsFrom(7, 45), ...tagsFrom(0xff00_0000, 45)];
  expect(tagsHeader(numbers(tags)).split(",")).toEqual(tags);
  expect(tagsHeader([])).toBe("");
});

test("a tag that is given several times is listed once, where it comes first", () => {
  expect(tagsHeader([3, -1, 3, 0, -1, 3])).toBe("00000003,ffffffff,00000000");
  const tags = tagsFrom(7, 90);
  expect(tagsHeader([...numbers(tags), ...numbers(tags)]).split(",")).toEqual(tags);
});

test("more than 90 are a bit set, however few their first digits are", () => {
  const near = Array.from({ length: 91 }, (_, index) => index);
  expect(tagsHeader(near.slice(1)).split(",")).toHaveLength(90);
  const bytes = Buffer.from(tagsHeader(near).slice(1), "base64url");
  expect(bytes).toEqual(Buffer.from([1, ...Array.from({ length: 511 }, () => 0)]));
});

test("more are a bit set of their first three digits, as docs/caching.md has it", () => {
  const tags = [...tagsFrom(0x1234_5678, 400), ...tagsFrom(0xff00_0000, 100)];
  const header = tagsHeader(numbers(tags));
  expect(header).toMatch(/^~[\w-]{683}$/);
  const bytes = Buffer.from(header.slice(1), "base64url");
  const set = Array.from({ length: 4_096 }, (_, bit) => bit).filter(
    (bit) => ((bytes[bit >> 3] ?? 0) >> (bit % 8)) % 2 === 1,
  );
  expect(new Set(set)).toEqual(new Set(tags.map((tag) => Number.parseInt(tag.slice(0, 3), 16))));
});
