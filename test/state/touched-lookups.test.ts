/** What a change touches is what a request has looked up: of every template of a contract, and of its names. */
import { expect, test } from "vitest";
import { combined, type Template } from "../../src/domain/template.js";
import { QueryRecorder } from "../../src/service/recorder.js";
import { MemoryStore } from "../../src/state/memory-store.js";
import type { View } from "../../src/state/port.js";
import { type Fruit, fruit } from "../fixtures/fruits.js";
import { apple, cherry, pear } from "./conformance/subject.js";

const lookups: readonly [string, (view: View) => unknown, boolean][] = [
  ["all of one template", (view) => view.all(apple), true],
  ["all of the other", (view) => view.all(cherry), true],
  ["all of another", (view) => view.all(pear), false],
  ["names of its group", (view) => view.tallied("cherries"), true],
  ["names of another group", (view) => view.tallied("apples"), false],
];

test.each(lookups)("a contract of several templates touches: %s", async (_what, use, isTouched) => {
  const store = new MemoryStore();
  await store.replace([], 1);
  const looked = store.read((view) => {
    const recorder = new QueryRecorder(view, 0, undefined);
    use(recorder);
    return recorder.tags;
  });
  const before = store.changes.position;
  await store.apply([{ active: fruit("b", { template: combined([apple, cherry]) as Template<Fruit> }) }], 2);
  const [change] = (before && store.changes.since(before)) ?? [];
  expect([...(looked ?? [])].some((tag) => change?.tags.has(tag))).toBe(isTouched);
});
