import { describe, expect, test } from "vitest";
import type { Contract } from "../../../src/domain/contract.js";
import type { JsonObject } from "../../../src/domain/json.js";
import { apple, byLabel, contract, toList, active, unassigned, type FruitFields } from "./fixtures.js";
import type { Subject } from "./subject.js";

/** Stores a contract, and finds it by id, by the label "red" and in the list of its template. */
async function storedForms(
  { store, read }: Subject,
  given: Contract<FruitFields>,
): Promise<readonly Contract<FruitFields>[]> {
  await store.writer.replace([given], 5);
  return read((view) => [
    ...toList(view.byId(apple, given.contractId)),
    ...view.byKey(apple, byLabel("red")),
    ...view.all(apple),
  ]);
}

/** Returns the slots of the red apple and then fills one. */
async function takeSlots({ read }: Subject): Promise<unknown[]> {
  const [found] = await read((view) => view.byKey(apple, byLabel("red")));
  const slots = found === undefined ? ["contract not found"] : (found.slots ?? []);
  if (found !== undefined) found.slots = ["something"];
  return slots;
}

export function contractCases(subject: Subject): void {
  const { store } = subject;
  describe("a contract", () => {
    test("is returned with every field unchanged", async () => {
      const awkward = "é \u2028 😀 '\"\\";
      const payload: JsonObject = {
        labels: ["red", "sweet"],
        name: awkward,
        amount: "1.0000000000",
        number: 1.5,
        nothing: null,
        flag: false,
        empty: {},
        list: [[], {}, null, { map: [["party::1220", {}]] }],
      };
      const given = contract(apple, `00${"ab".repeat(68)}`, {
        labels: ["red", "sweet"],
        more: {
          templateId: `${"cd".repeat(32)}:Fruit.Tree:Apple`,
          payload: JSON.stringify(payload),
          fields: { name: awkward, labels: ["red", "sweet"] },
          createdEventBlob: Buffer.alloc(3_000, 0xa5).toString("base64"),
          createdAt: "2026-01-05T09:00:00.123456789Z",
          createdMicros: 1_767_603_600_123_456,
          synchronizerId: "global-domain::1220ab",
          reassignmentCounter: 3,
        },
      });
      const back = await storedForms(subject, given);
      expect(back).toEqual([given, given, given]);
      for (const { template } of back) expect(template).toBe(apple);
    });

    test("between synchronizers is returned without a synchronizer", async () => {
      const given = contract(apple, "moving", { labels: ["red"], more: { synchronizerId: undefined } });
      const back = await storedForms(subject, given);
      expect(back.map(({ synchronizerId }) => synchronizerId)).toEqual([undefined, undefined, undefined]);
    });

    test("has empty slots at first and after each reassignment", async () => {
      await store.writer.replace([contract(apple, "a", { labels: ["red"] })], 5);
      expect(await takeSlots(subject)).toEqual([]);
      await store.writer.apply([unassigned("a", 1)], 6);
      expect(await takeSlots(subject)).toEqual([]);
      await store.writer.apply([active("a", { synchronizerId: "sync-B", reassignmentCounter: 1 })], 7);
      expect(await takeSlots(subject)).toEqual([]);
    });

    test("keeps the order of its index keys", async () => {
      const back = await storedForms(subject, contract(apple, "a", { labels: ["sweet", "red"] }));
      for (const { indexKeys } of back) expect(indexKeys).toEqual([byLabel("sweet"), byLabel("red")]);
    });
  });
}
