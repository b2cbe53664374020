/** Entries that are kept with a contract: by one name or two, and not without end. */
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

const textOf = (piece: Uint8Array | string): string => Buffer.from(piece as string, "latin1").toString("latin1");

test("what is written by a name, or by two, is written once for each contract", () => {
  let written = 0;
  const entry = cacheEntry(({ contractId }, name) => {
    written++;
    return `${name}=${contractId};`;
  });
  const [one, other] = [contract("1"), contract("2")];
  for (let time = 0; time < 3; time++) {
    expect(textOf(entry(one, "a", undefined))).toBe("a=1;");
    expect(textOf(entry(one, "a", "b"))).toBe("a=1;b=1;");
    expect(textOf(entry(one, "b", undefined))).toBe("b=1;");
    expect(textOf(entry(other, "a", undefined))).toBe("a=2;");
    expect(written).toBe(5);
  }
});

test("no more than eight are kept with a contract, and each further one is written anew", () => {
  let written = 0;
  const entry = cacheEntry((_contract, name) => {
    written++;
    return name;
  });
  const one = contract("1");
  const names = Array.from({ length: 20 }, (_, index) => `name ${index}`);
  for (const name of names) entry(one, name, undefined);
  expect(written).toBe(20);
  expect(names.map((name) => textOf(entry(one, name, undefined)))).toEqual(names);
  expect(written).toBe(20 + 12);
});
