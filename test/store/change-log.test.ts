import { describe, expect, test } from "vitest";
import { ChangeLog } from "../../src/store/change-log.js";

const at = (offset: number, generation = "g") => ({ generation, offset, asOf: undefined });
const change = (offset: number, ...tags: readonly string[]) => ({ offset, asOf: undefined, tags: new Set(tags) });
const offsets = (log: ChangeLog, offset: number, generation?: string) =>
  log.since(at(offset, generation))?.map((one) => one.offset);

function logFrom(offset: number, ...changes: readonly ReturnType<typeof change>[]): ChangeLog {
  const log = new ChangeLog();
  log.reset(at(offset));
  for (const one of changes) log.append(one);
  return log;
}

describe("since", () => {
  const log = logFrom(5, change(6, "a"), change(8, "b"), change(9), change(12, "c"));

  test.each([
    [5, [6, 8, 12]],
    [6, [8, 12]],
    [7, [8, 12]],
    [9, [12]],
    [12, []],
    [100, []],
  ])("%d has the changes after it", (offset, expected) => expect(offsets(log, offset)).toEqual(expected));

  test("does not know what was before the snapshot, or in another generation", () => {
    expect(offsets(log, 4)).toBeUndefined();
    expect(offsets(log, 8, "h")).toBeUndefined();
    expect(new ChangeLog().since(at(0))).toBeUndefined();
  });

  test("forgets everything when the state is replaced", () => {
    const replaced = logFrom(5, change(6, "a"));
    replaced.reset(at(3, "h"));
    expect(offsets(replaced, 6)).toBeUndefined();
    expect(offsets(replaced, 3, "h")).toEqual([]);
    expect(replaced.position).toEqual(at(3, "h"));
  });
});

describe("bounds", () => {
  test("10,000 changes are kept", () => {
    const log = logFrom(0);
    for (let offset = 1; offset <= 25_000; offset++) log.append(change(offset, "a"));
    expect(offsets(log, 14_999)).toBeUndefined();
    expect(offsets(log, 15_000)).toHaveLength(10_000);
    expect(offsets(log, 24_990)).toEqual([
      24_991, 24_992, 24_993, 24_994, 24_995, 24_996, 24_997, 24_998, 24_999, 25_000,
    ]);
  });

  test("200,000 tags are kept", () => {
    const log = logFrom(0);
    const tags = Array.from({ length: 70_000 }, (_, index) => String(index));
    for (let offset = 1; offset <= 4; offset++) log.append({ offset, asOf: undefined, tags: new Set(tags) });
    expect([offsets(log, 1), offsets(log, 2)]).toEqual([undefined, [3, 4]]);
  });

  test("one change with more tags than are kept is forgotten at once", () => {
    const tags = new Set(Array.from({ length: 200_001 }, (_, index) => String(index)));
    const log = logFrom(0, { offset: 1, asOf: undefined, tags });
    expect([offsets(log, 0), offsets(log, 1)]).toEqual([undefined, []]);
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
