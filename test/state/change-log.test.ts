import { describe, expect, test } from "vitest";
import { ChangeLog } from "../../src/state/change-log.js";

const at = (offset: number, generation = "g") => ({ generation, offset, asOf: undefined });
const change = (offset: number, ...tags: readonly string[]) => ({ offset, asOf: undefined, tags: new Set(tags) });
const many = (count: number) => Array.from({ length: count }, (_, index) => String(index));
const offsets = (log: ChangeLog, offset: number, generation?: string) =>
  log.since(at(offset, generation))?.map((one) => one.offset);

function logFrom(offset: number, ...changes: readonly ReturnType<typeof change>[]): ChangeLog {
  const log = new ChangeLog();
  log.reset(at(offset));
  for (const one of changes) log.append(one);
  return log;
}

test.each([
  [5, [6, 8, 12]],
  [6, [8, 12]],
  [7, [8, 12]],
  [9, [12]],
  [12, []],
  [100, []],
  // Before the snapshot.
  [4, undefined],
])("since %d has the changes after it", (offset, expected) => {
  const log = logFrom(5, change(6, "a"), change(8, "b"), change(9), change(12, "c"));
  expect(offsets(log, offset)).toEqual(expected);
  expect(offsets(log, offset, "h")).toBeUndefined();
});

test("everything is forgotten when the state is replaced", () => {
  expect(new ChangeLog().since(at(0))).toBeUndefined();
  const log = logFrom(5, change(6, "a"));
  log.reset(at(3, "h"));
  expect([offsets(log, 6), offsets(log, 3, "h"), log.position]).toEqual([undefined, [], at(3, "h")]);
});

describe("bounds", () => {
  test("10,000 changes are kept", () => {
    const log = logFrom(0);
    for (let offset = 1; offset <= 25_000; offset++) log.append(change(offset, "a"));
    expect(offsets(log, 14_999)).toBeUndefined();
    expect(offsets(log, 15_000)).toHaveLength(10_000);
    expect(offsets(log, 24_997)).toEqual([24_998, 24_999, 25_000]);
  });

  test("200,000 tags are kept", () => {
    const log = logFrom(0, ...[1, 2, 3, 4].map((offset) => change(offset, ...many(70_000))));
    expect([offsets(log, 1), offsets(log, 2)]).toEqual([undefined, [3, 4]]);
    const tooMany = logFrom(0, { ...change(1), tags: new Set(many(200_001)) });
    expect([offsets(tooMany, 0), offsets(tooMany, 1)]).toEqual([undefined, []]);
  });
});

test("listeners learn of every move, until they leave", () => {
  const log = logFrom(1);
  const seen: (number | undefined)[] = [];
  const leave = log.subscribe(() => seen.push(log.position?.offset));
  log.append(change(2, "a"));
  log.append(change(3));
  log.reset(at(2, "h"));
  leave();
  log.append(change(4, "a"));
  expect(seen).toEqual([2, 3, 2]);
});
