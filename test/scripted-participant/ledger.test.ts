/** What a script does to the expected contracts. */
import { beforeEach, describe, expect, test } from "vitest";
import { creation } from "./test-client.js";
import { ScriptedLedger } from "./ledger.js";

let ledger: ScriptedLedger;
beforeEach(() => {
  ledger = new ScriptedLedger({ offsetsPerTransaction: 1, synchronizerId: "A" });
});

const create = (...ids: readonly string[]) => ids.map((id) => ({ create: creation(id) }));

const use = (contractId: string, consuming = false) => ({ exercise: { contractId, choice: "Do", consuming } });

/** The synchronizer and reassignment counter of every contract. */
const places = (): Record<string, string> =>
  Object.fromEntries(
    [...ledger.contracts.values()].map((one) => [
      one.contractId,
      `${one.synchronizerId ?? "between"} ${one.reassignmentCounter}`,
    ]),
  );

test("offsets ascend by one, or as they are given; a transaction takes three by default", () => {
  expect([ledger.transact(create("a")), ledger.checkpoint(), ledger.elsewhere({ offset: 10 }), ledger.end]).toEqual([
    1, 2, 10, 10,
  ]);
  expect(() => ledger.checkpoint({ offset: 10 })).toThrow("offset 10 is not above the ledger end 10");
  const real = new ScriptedLedger();
  expect([real.transact(create("a")), real.end, real.transact(create("b")), real.lastUpdate, real.end]).toEqual([
    1, 3, 4, 4, 6,
  ]);
});

test("contracts are created, reassigned and archived, in one transaction too", () => {
  ledger.transact(create("a", "b", "c"));
  ledger.transact([{ archive: "a" }, ...create("d", "brief"), { archive: "brief" }]);
  ledger.unassign(["b", "c"], "B");
  expect(places()).toEqual({ b: "between 1", c: "between 1", d: "A 0" });
  ledger.assign(["b", "c"]);
  ledger.unassign("b", "A");
  ledger.assign("b");
  ledger.transact([{ archive: "c" }]);
  ledger.assignEarly("d", "B");
  expect(places()).toEqual({ b: "A 2", d: "B 1" });
  ledger.unassignLate("d");
  ledger.enter(creation("e"), "X", "A", 3);
  ledger.unassign("e", "B");
  expect(places()).toEqual({ b: "A 2", d: "B 1", e: "between 4" });
});

describe("an invalid operation changes nothing", () => {
  beforeEach(() => {
    ledger.transact(create("a", "left", "early"));
    ledger.unassign("left", "B");
    ledger.assignEarly("early", "B");
  });

  test.each<[string, string, () => unknown]>([
    ["create what is there", "already exists", () => ledger.transact(create("new", "a"))],
    ["create twice", "is created twice", () => ledger.transact(create("new", "new"))],
    ["archive what is not there", "is not active", () => ledger.transact([{ archive: "other" }])],
    ["archive twice", "is archived twice", () => ledger.transact([{ archive: "a" }, { archive: "a" }])],
    ["use what is archived", "used when it is archived", () => ledger.transact([use("a", true), use("a")])],
    ["archive what is between synchronizers", "is not active", () => ledger.transact([{ archive: "left" }])],
    ["archive elsewhere", "is not on B but on A", () => ledger.transact([use("a", true)], { synchronizerId: "B" })],
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
  ])("%s", (_, why, does) => {
    const before = places();
    const { end } = ledger;
    expect(does).toThrow(why);
    expect([places(), ledger.end]).toEqual([before, end]);
  });
});

test("a restore removes later updates, and an offset used again is of another update; not to before what is pruned", () => {
  ledger.transact(create("a"));
  const left = ledger.unassign("a", "B");
  const assigned = ledger.assign("a");
  const before = ledger.log.at(assigned)?.updateId;
  ledger.transact(create("b"));
  ledger.restore(left);
  expect([places(), ledger.end]).toEqual([{ a: "between 1" }, left]);
  expect(ledger.assign("a")).toBe(assigned);
  expect(ledger.log.at(assigned)?.updateId).not.toBe(before);
  ledger.prune(left);
  expect(() => ledger.restore(1)).toThrow("cannot go back to 1");
  expect(() => ledger.prune(1)).toThrow("cannot prune up to 1");
  ledger.clear();
  expect([places(), ledger.end, ledger.pruned]).toEqual([{}, 0, 0]);
});
