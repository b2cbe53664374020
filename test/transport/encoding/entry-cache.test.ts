/** Encoded entries that are cached with a contract. */
import { expect, test } from "vitest";
import type { Contract } from "../../../src/registry/sdk/registry.js";
import { cacheEntry } from "../../../src/transport/encoding/entry-cache.js";

const contract = (contractId: string): Contract => ({
  fields: null,
  indexKeys: [],
  supply: undefined,
  contractId,
  template: { packageName: "some", qualifiedName: "Some:Kind", parse: () => undefined },
  templateId: "package:Some:Kind",
  payload: "{}",
  createdEventBlob: "YQ==",
  createdAt: "2026-01-01T00:00:00Z",
  createdMicros: 0,
  synchronizerId: "sync",
  reassignmentCounter: 0,
  slots: undefined,
});

const bytes = (text: string): Uint8Array => Buffer.from(text);

test("an entry is encoded once per contract and name", () => {
  let encoded = 0;
  const entry = cacheEntry(({ contractId }, name) => {
    encoded++;
    return bytes(`${name}=${contractId};`);
  });
  const [one, other] = [contract("1"), contract("2")];
  for (let time = 0; time < 3; time++) {
    expect(entry(one, "a")).toEqual(bytes("a=1;"));
    expect(entry(one, "b")).toEqual(bytes("b=1;"));
    expect(entry(other, "a")).toEqual(bytes("a=2;"));
    expect(encoded).toBe(3);
  }
});

test("at most eight entries are cached per contract", () => {
  let encoded = 0;
  const entry = cacheEntry((_contract, name) => {
    encoded++;
    return bytes(name);
  });
  const one = contract("1");
  const names = Array.from({ length: 20 }, (_, index) => `name ${index}`);
  for (const name of names) entry(one, name);
  expect(encoded).toBe(20);
  expect(names.map((name) => entry(one, name))).toEqual(names.map(bytes));
  expect(encoded).toBe(20 + 12);
});
