/** Encoded entries that are cached with a contract. */
import { expect, test } from "vitest";
import type { Contract } from "../../../src/registry/sdk/registry.js";
import { type CachedEntry, cacheEntry } from "../../../src/transport/encoding/entry-cache.js";

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
const bytesOf = (chunk: Uint8Array | string | CachedEntry): Uint8Array | string =>
  typeof chunk === "string" || ArrayBuffer.isView(chunk) ? chunk : chunk.encoded;

test("an entry is encoded once per contract, name and alias", () => {
  let encoded = 0;
  const entry = cacheEntry(({ contractId }, names) => {
    encoded++;
    return bytes(names.map((name) => `${name}=${contractId};`).join(""));
  });
  const [one, other] = [contract("1"), contract("2")];
  for (let time = 0; time < 3; time++) {
    expect(bytesOf(entry(one, "a", undefined))).toEqual(bytes("a=1;"));
    expect(bytesOf(entry(one, "b", undefined))).toEqual(bytes("b=1;"));
    expect(bytesOf(entry(other, "a", undefined))).toEqual(bytes("a=2;"));
    expect(bytesOf(entry(one, "a", "b"))).toEqual(bytes("a=1;b=1;"));
    expect(bytesOf(entry(one, "a", "c"))).toEqual(bytes("a=1;c=1;"));
    expect(bytesOf(entry(one, "b", "a"))).toEqual(bytes("b=1;a=1;"));
    expect(encoded).toBe(6);
  }
});

test("at most eight entries are cached per contract", () => {
  let encoded = 0;
  const entry = cacheEntry((_contract, names) => {
    encoded++;
    return bytes(names.join());
  });
  const one = contract("1");
  const names = Array.from({ length: 20 }, (_, index) => `name ${index}`);
  for (const name of names) entry(one, name, undefined);
  expect(encoded).toBe(20);
  expect(names.map((name) => bytesOf(entry(one, name, undefined)))).toEqual(names.map(bytes));
  expect(encoded).toBe(20 + 12);
});
