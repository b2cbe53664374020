/** How a read gets what the store lacks: look-ups are noted, fetched together, and the read runs again; within limits. */
import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../../src/state/memory-store.js";
import { StoreUnavailable, type View } from "../../../src/state/port.js";
import { REQUEST_LIMITS } from "../../../src/state/postgres/read-session.js";
import { apple, byLabel, fruit, fruits } from "../../fixtures/fruits.js";
import { ForgetfulReader } from "../../fixtures/forgetful-reader.js";

/** Apples a0, a1, …, each with a label that names the next. */
async function forgetful(count: number, limits = REQUEST_LIMITS) {
  const store = new MemoryStore();
  await store.replace(
    Array.from({ length: count }, (_, index) => fruit(`a${index}`, { labels: [`after-${index - 1}`, "any"] })),
    1,
  );
  const reader = new ForgetfulReader(store, { templates: fruits, limits });
  return { store, reader };
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => `a${index}`);

/** Follows the labels from a0 on. */
function follow(view: View, steps: number): string {
  let found = view.byId(apple, "a0");
  for (let step = 0; step < steps && found !== undefined; step++) [found] = view.byKey(apple, byLabel(`after-${step}`));
  return found?.contractId ?? "none";
}

test("all that a run notes is fetched in one round trip", async () => {
  const { reader } = await forgetful(50);
  const runs: number[] = [];
  const found = await reader.read((view) => {
    const some = ids(50).map((id) => view.byId(apple, id)?.contractId);
    const any = view.byKey(apple, byLabel("any")).length;
    runs.push(any);
    return [...some, any];
  });
  expect(found).toEqual([...ids(50), 50]);
  expect(runs).toEqual([0, 50]);
  expect(reader.trips).toEqual([1]);
});

test.each<[string, (view: View) => unknown]>([
  ["all", (view) => view.all(apple).length],
  ["wasArchived", (view) => view.wasArchived("a1")],
  ["templateCounts", (view) => view.templateCounts().length],
  ["sums", (view) => view.sums(["USD"])],
])("%s ends a run in which something is missing", async (_what, use) => {
  const { reader } = await forgetful(2);
  let ended = 0;
  await reader.read((view) => {
    view.byId(apple, "a0");
    ended++;
    use(view);
    ended--;
  });
  expect(ended).toBe(1);
  // It is fetched with what was missing before it.
  expect(reader.trips).toEqual([1]);
});

test("the lookups of one run are of one state, also those that were fetched before", async () => {
  const { store, reader } = await forgetful(1);
  const labels: string[] = [];
  const seen = await reader.read((view) => {
    const [first] = view.byKey(apple, byLabel("any"));
    labels.push(first?.contractId ?? "none");
    if (first === undefined) return view.offset;
    // Another update comes while the rest is fetched.
    if (labels.length === 2) void store.apply([{ archived: "a0" }, { active: fruit("b", { labels: ["any"] }) }], 2);
    return [view.offset, first.contractId, view.byId(apple, "b")?.contractId];
  });
  expect(seen).toEqual([2, "b", "b"]);
});

describe("limits", () => {
  const limits = { roundTrips: 3, lookups: 20, contracts: 10 };

  test("are 8 round trips, 2,000 lookups, and 10,000 contracts of a lookup", () => {
    expect(REQUEST_LIMITS).toEqual({ roundTrips: 8, lookups: 2_000, contracts: 10_000 });
  });

  test("a read ends after so many round trips", async () => {
    const { reader } = await forgetful(9, limits);
    expect(await reader.read((view) => follow(view, 2))).toBe("a2");
    const tooDeep = reader.read((view) => follow(view, 3));
    await expect(tooDeep).rejects.toThrow(StoreUnavailable);
    await expect(tooDeep).rejects.toMatchObject({ exceeded: { limit: "round-trips", maximum: 3 } });
    expect(reader.trips).toEqual([3, 3]);
  });

  test("a read looks up so much, each thing once", async () => {
    const { reader } = await forgetful(21, limits);
    const lookUp = (count: number) =>
      reader.read((view) => [...ids(count), ...ids(count)].flatMap((id) => view.byId(apple, id) ?? []).length);
    expect(await lookUp(20)).toBe(40);
    await expect(lookUp(21)).rejects.toMatchObject({ exceeded: { limit: "lookups", maximum: 20 } });
  });
});

test("a view cannot be used after its run", async () => {
  const { reader } = await forgetful(1);
  const kept = await reader.read((view) => view);
  expect(() => kept.byId(apple, "a0")).toThrow("was used after its read had ended");
});
