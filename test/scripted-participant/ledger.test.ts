import { beforeEach, describe, expect, test } from "vitest";
import { creation } from "./test-client.js";
import { ScriptedLedger } from "./ledger.js";

let ledger: ScriptedLedger;
beforeEach(() => {
  ledger = new ScriptedLedger({ offsetsPerTransaction: 1, synchronizerId: "A" });
});

/** The synchronizer and reassignment counter of every contract. */
function places(): Record<string, string> {
  const all = [...ledger.contracts.values()];
  return Object.fromEntries(
    all.map((one) => [one.contractId, `${one.synchronizerId ?? "between"} ${one.reassignmentCounter}`]),
  );
}

test("offsets ascend by one, or as they are given", () => {
  expect(ledger.end).toBe(0);
  expect(ledger.transact([{ create: creation("a") }])).toBe(1);
  expect(ledger.checkpoint()).toBe(2);
  expect(ledger.elsewhere({ offset: 10 })).toBe(10);
  expect(ledger.topology("alice")).toBe(11);
  expect(ledger.end).toBe(11);
  expect(() => ledger.checkpoint({ offset: 11 })).toThrow("offset 11 is not above the ledger end 11");
});

test("the expected contracts have all fields", () => {
  const created = creation("a");
  ledger.transact([{ create: created }], { synchronizerId: "B" });
  const createdAt = "2026-01-05T09:00:01.000417Z";
  expect([...ledger.contracts]).toEqual([
    ["a", { ...created, createdAt, synchronizerId: "B", reassignmentCounter: 0 }],
  ]);
});

test("contracts are created, reassigned and archived", () => {
  ledger.transact([{ create: creation("a") }, { create: creation("b") }, { create: creation("c") }]);
  ledger.transact([{ archive: "a" }, { create: creation("d") }]);
  expect(places()).toEqual({ b: "A 0", c: "A 0", d: "A 0" });
  ledger.unassign(["b", "c"], "B");
  expect(places()).toEqual({ b: "between 1", c: "between 1", d: "A 0" });
  ledger.assign(["b", "c"]);
  ledger.unassign("b", "A");
  expect(places()).toEqual({ b: "between 2", c: "B 1", d: "A 0" });
  ledger.assign("b");
  ledger.transact([{ archive: "c" }]);
  expect(places()).toEqual({ b: "A 2", d: "A 0" });
});

test("a contract assigned before its unassignment is on its target", () => {
  ledger.transact([{ create: creation("a") }]);
  ledger.assignEarly("a", "B");
  expect(places()).toEqual({ a: "B 1" });
  ledger.unassignLate("a");
  expect(places()).toEqual({ a: "B 1" });
  ledger.unassign("a", "A");
  expect(places()).toEqual({ a: "between 2" });
});

test("a contract may come from an unconnected synchronizer", () => {
  ledger.enter(creation("a"), "X", "A", 3);
  expect(places()).toEqual({ a: "A 3" });
  ledger.unassign("a", "B");
  expect(places()).toEqual({ a: "between 4" });
});

test("a transient contract is not among the expected contracts", () => {
  ledger.transact([{ create: creation("a") }, { create: creation("b") }, { archive: "a" }]);
  expect(places()).toEqual({ b: "A 0" });
});

describe("an invalid operation changes nothing", () => {
  beforeEach(() => {
    ledger.transact([{ create: creation("a") }, { create: creation("left") }, { create: creation("early") }]);
    ledger.unassign("left", "B");
    ledger.assignEarly("early", "B");
  });

  const wrong: [string, string, () => unknown][] = [
    [
      "create what is there",
      "already exists",
      () => ledger.transact([{ create: creation("new") }, { create: creation("a") }]),
    ],
    [
      "create twice",
      "is created twice",
      () => ledger.transact([{ create: creation("new") }, { create: creation("new") }]),
    ],
    ["archive what is not there", "is not active", () => ledger.transact([{ archive: "other" }])],
    ["archive twice", "is archived twice", () => ledger.transact([{ archive: "a" }, { archive: "a" }])],
    ["archive what is between synchronizers", "is not active", () => ledger.transact([{ archive: "left" }])],
    [
      "archive what is elsewhere",
      "is not on B but on A",
      () => ledger.transact([{ archive: "a" }], { synchronizerId: "B" }),
    ],
    ["archive what must be seen leaving", "must be seen leaving", () => ledger.transact([{ archive: "early" }])],
    ["unassign to where it is", "is on A already", () => ledger.unassign("a", "A")],
    ["unassign what has left", "is not active", () => ledger.unassign("left", "C")],
    ["unassign nothing", "must be named", () => ledger.unassign([], "B")],
    ["unassign twice", "must be named, each once", () => ledger.unassign(["a", "a"], "B")],
    ["assign what has not left", "is not leaving", () => ledger.assign("a")],
    ["see leaving late what has not arrived", "is not arriving", () => ledger.unassignLate("a")],
    ["let enter what is there", "already exists", () => ledger.enter(creation("a"), "X", "A")],
    ["prune beyond the end", "cannot prune up to", () => ledger.prune(ledger.end + 1)],
    ["go back beyond the end", "cannot go back to", () => ledger.restore(ledger.end + 1)],
  ];

  test.each(wrong)("%s", (_, why, does) => {
    const before = places();
    const { end } = ledger;
    expect(does).toThrow(why);
    expect(places()).toEqual(before);
    expect(ledger.end).toBe(end);
  });
});

test("a restore removes later updates, also an incomplete reassignment", () => {
  ledger.transact([{ create: creation("a") }]);
  const left = ledger.unassign("a", "B");
  ledger.assign("a");
  ledger.transact([{ create: creation("b") }]);
  ledger.restore(left);
  expect(places()).toEqual({ a: "between 1" });
  expect(ledger.end).toBe(left);
  const again = ledger.assign("a");
  expect(again).toBe(left + 1);
  expect(places()).toEqual({ a: "B 1" });
  ledger.restore(0);
  expect(places()).toEqual({});
  expect(ledger.transact([{ create: creation("a") }])).toBe(1);
});

test("an offset used again is of another update", () => {
  ledger.checkpoint();
  const [before] = ledger.log.between(0);
  ledger.restore(0);
  ledger.checkpoint();
  const [after] = ledger.log.between(0);
  expect(after?.offset).toBe(before?.offset);
  expect(after?.updateId).not.toBe(before?.updateId);
});

test("it cannot be restored to before the pruned offset", () => {
  ledger.checkpoint();
  ledger.checkpoint();
  ledger.prune(2);
  expect(ledger.pruned).toBe(2);
  expect(() => ledger.restore(1)).toThrow("cannot go back to 1");
  expect(() => ledger.prune(1)).toThrow("cannot prune up to 1");
});
