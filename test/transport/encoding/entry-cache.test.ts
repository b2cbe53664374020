/** The entries cached with a contract: under one name or two, and bounded. */
import { expect, test } from "vitest";
import type { Contract } from "../../../src/registry/sdk/registry.js";
import { cacheEntry } from "../../../src/transport/encoding/entry-cache.js";

const contract = (contractId: string): Contract => ({
  fields: null,
  indexKeys: [],
  supply: undefined,
  contractId,
  template: { packageName: "some", qualifiedName: "Some:Template", parse: () => undefined },
  templateId: "package:Some:Template",
  payload: "{}",
  createdEventBlob: "YQ==",
  createdAt: "2026-01-01T00:00:00Z",
  createdMicros: 0,
  synchronizerId: "sync",
  reassignmentCounter: 0,
  slots: undefined,
});

const textOf = (piece: Uint8Array | string): string => Buffer.from(piece as string, "latin1").toString("latin1");

test("an entry with one or two names is encoded once per contract", () => {
  let encoded = 0;
  const entry = cacheEntry(({ contractId }, name) => {
    encoded++;
    return `${name}=${contractId};`;
  });
  const [one, other] = [contract("1"), contract("2")];
  for (let round = 0; round < 3; round++) {
    expect(textOf(entry(one, "a", undefined))).toBe("a=1;");
    expect(textOf(entry(one, "a", "b"))).toBe("a=1;b=1;");
    expect(textOf(entry(one, "b", undefined))).toBe("b=1;");
    expect(textOf(entry(other, "a", undefined))).toBe("a=2;");
    expect(encoded).toBe(5);
  }
});

test("at most eight entries are cached per contract; others are encoded each time", () => {
  let encoded = 0;
  const entry = cacheEntry((_contract, name) => {
    encoded++;
    return name;
  });
  const one = contract("1");
  const names = Array.from({ length: 20 }, (_, index) => `name ${index}`);
  for (const name of names) entry(one, name, undefined);
  expect(encoded).toBe(20);
  expect(names.map((name) => textOf(entry(one, name, undefined)))).toEqual(names);
  expect(encoded).toBe(20 + 12);
});
