import { expect, test } from "vitest";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";
import { HotContractCache } from "../../../src/store/memory/hot-contract-cache.js";
import type { Contract } from "../../../src/domain/contract.js";
import type { Template } from "../../../src/domain/template.js";

const template: Template = {
  qualifiedName: "Some:Template",
  packageName: "some",
  parse: () => ({ fields: {}, indexKeys: [] }),
};

const contract = (contractId: string, reassignmentCounter = 0): Contract => ({
  fields: {},
  indexKeys: [],
  supply: undefined,
  contractId,
  template,
  templateId: "package:Some:Template",
  payload: "{}",
  createdEventBlob: "YQ==",
  createdAt: "2026-01-01T00:00:00Z",
  createdMicros: 0,
  synchronizerId: "global::1220",
  reassignmentCounter,
  slots: undefined,
});

test("holds the contracts that were read last, up to a bound", () => {
  const cache = new HotContractCache();
  for (let index = 0; index < 20_000; index++) {
    cache.add(contract(`00${index}`));
    expect(cache.get("000")?.contractId).toBe("000");
    expect(cache.size).toBeLessThanOrEqual(2 * 4_096);
  }
  // Not read since it was added.
  expect(cache.get("001")).toBeUndefined();
  expect(cache.get("0019999")?.contractId).toBe("0019999");
});

test("delete removes a contract from both generations", () => {
  const cache = new HotContractCache();
  for (let index = 0; index < 5_000; index++) cache.add(contract(`00${index}`));
  for (const contractId of ["000", "004999"]) {
    expect(cache.get(contractId)?.contractId).toBe(contractId);
    cache.delete(contractId);
    expect(cache.get(contractId)).toBeUndefined();
  }
});

test("the memory store does not return an archived contract or an old version from the cache", async () => {
  const store = new MemoryStore();
  await store.replace([contract("00a"), contract("00b"), contract("00c")], 1);
  const read = (id: string) => store.read((view) => view.byId(template, id));
  const [first] = ["00a", "00b", "00c"].map(read);
  expect(read("00a")).toBe(first);
  await store.apply([{ archived: "00a" }, { active: contract("00b", 1) }], 2);
  await store.apply([{ unassigned: "00c", reassignmentCounter: 1 }], 3);
  expect(read("00a")).toBeUndefined();
  expect(read("00b")?.reassignmentCounter).toBe(1);
  expect(read("00c")?.synchronizerId).toBeUndefined();
  await store.replace([contract("00d")], 4);
  expect(read("00b")).toBeUndefined();
});
