import { expect, test } from "vitest";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";
import { HotContractCache } from "../../../src/store/memory/hot-contract-cache.js";
import type { Contract } from "../../../src/domain/contract.js";
import type { Template } from "../../../src/domain/template.js";

const template: Template = {
  qualifiedName: "Some:Kind",
  packageName: "some",
  parse: () => ({ fields: {}, indexKeys: [] }),
};

const contract = (contractId: string, reassignmentCounter = 0): Contract => ({
  fields: {},
  indexKeys: [],
  supply: undefined,
  contractId,
  template,
  templateId: "package:Some:Kind",
  payload: "{}",
  createdEventBlob: "YQ==",
  createdAt: "2026-01-01T00:00:00Z",
  createdMicros: 0,
  synchronizerId: "global::1220",
  reassignmentCounter,
  slots: undefined,
});

test("what is read is there again, as long as there is not too much of it", () => {
  const recent = new HotContractCache();
  for (let index = 0; index < 20_000; index++) {
    recent.add(contract(`00${index}`));
    expect(recent.get("000")?.contractId).toBe("000");
    expect(recent.size).toBeLessThanOrEqual(2 * 4_096);
  }
  // Nobody has asked for this one since.
  expect(recent.get("001")).toBeUndefined();
  expect(recent.get("0019999")?.contractId).toBe("0019999");
});

test("what is forgotten is in neither generation", () => {
  const recent = new HotContractCache();
  for (let index = 0; index < 5_000; index++) recent.add(contract(`00${index}`));
  for (const contractId of ["000", "004999"]) {
    expect(recent.get(contractId)?.contractId).toBe(contractId);
    recent.delete(contractId);
    expect(recent.get(contractId)).toBeUndefined();
  }
});

test("a store that has read a contract does not give it when it is archived, nor as it was before", async () => {
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
