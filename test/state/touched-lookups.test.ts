/** What a change touches is what a request has looked up: of every template of a contract, and of its names. */
import { expect, test } from "vitest";
import type { Change, CountedOnly } from "../../src/domain/contract.js";
import { combined, type Template } from "../../src/domain/template.js";
import { QueryRecorder } from "../../src/service/recorder.js";
import { MemoryStore } from "../../src/state/memory-store.js";
import type { View } from "../../src/state/port.js";
import { counted, type Fruit, fruit } from "../fixtures/fruits.js";
import { apple, cherry, pear } from "./conformance/subject.js";

const lookups: readonly [string, (view: View) => unknown, boolean][] = [
  ["all of one template", (view) => view.all(apple), true],
  ["all of the other", (view) => view.all(cherry), true],
  ["all of another", (view) => view.all(pear), false],
  ["names of its group", (view) => view.tallied("cherries"), true],
  ["names of another group", (view) => view.tallied("apples"), false],
];

/** What a lookup and a change of the store have in common. */
async function touches(use: (view: View) => unknown, given: readonly CountedOnly[], changes: readonly Change[]) {
  const store = new MemoryStore();
  await store.replace(given, 1);
  const looked = store.read((view) => {
    const recorder = new QueryRecorder(view, 0, undefined);
    use(recorder);
    return recorder.tags;
  });
  const before = store.changes.position;
  await store.apply(changes, 2);
  const [change] = (before && store.changes.since(before)) ?? [];
  return [...(looked ?? [])].some((tag) => change?.tags.has(tag));
}

const named: CountedOnly = {
  ...counted("c", 5n),
  supply: { sum: "USD", amount: 5n, tally: { group: "cherries", name: "USD" } },
};

test.each<[string, readonly CountedOnly[], Change]>([
  ["is created", [], { active: named }],
  ["is archived", [named], { archived: "c" }],
])("a contract that is only counted touches the names of its group when it %s", async (_what, given, change) => {
  expect(await touches((view) => view.tallied("cherries"), given, [change])).toBe(true);
  expect(await touches((view) => view.tallied("apples"), given, [change])).toBe(false);
});

test.each(lookups)("a contract of several templates touches: %s", async (_what, use, isTouched) => {
  const active = fruit("b", { template: combined([apple, cherry]) as Template<Fruit> });
  expect(await touches(use, [], [{ active }])).toBe(isTouched);
});
