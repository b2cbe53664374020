import { expect, test } from "vitest";
import { DigestMixer, wordsOf } from "../../../src/transport/caching/digest-words.js";

function mixed(...parts: (string | number)[]): string {
  const mixer = new DigestMixer();
  for (const part of parts) {
    if (typeof part === "number") mixer.addNumber(part);
    else mixer.add(wordsOf(part));
  }
  return mixer.toString();
}

/** The words of a digest, as hexadecimal digits. */
const words = (digest: string): string[] => Buffer.from(digest, "base64url").toString("hex").match(/.{8}/g) ?? [];

// The expectation was computed in Python from the SHA-256 digests.
test("a digest has 22 characters of base64url and is the same in every process", () => {
  expect(mixed("contract 1", 2, "contract 2")).toBe("33YeL9daxgfjMvNZ_zQ25A");
  expect(mixed()).toMatch(/^[\w-]{22}$/);
});

test("order, repetition and numbers count", () => {
  const lists = [
    [],
    ["a"],
    ["b"],
    ["a", "b"],
    ["b", "a"],
    ["a", "a"],
    ["a", "a", "b"],
    ["a", 1],
    ["a", -1],
    [1, "a"],
    [0],
    [0, 0],
  ];
  expect(new Set(lists.map((list) => mixed(...list))).size).toBe(lists.length);
});

test("each of the four words changes with each digest: 100,000 pairs have no word in common", () => {
  const counts = [0, 0, 0, 0];
  const first = words(mixed("0", "x"));
  for (let index = 1; index <= 100_000; index++)
    words(mixed(String(index), "x")).forEach((word, position) => {
      if (word === first[position]) counts[position] = (counts[position] ?? 0) + 1;
    });
  // One in 2^32 would share a word by chance.
  expect(counts).toEqual([0, 0, 0, 0]);
});
