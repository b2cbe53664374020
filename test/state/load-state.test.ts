import { expect, test } from "vitest";
import { StateSize } from "../../src/state/load-state.js";

const MIB = 1024 * 1024;
const CHARACTERS = 500;

test("contracts that are only counted leave the room of the heap as it was", async () => {
  let used = 10 * MIB;
  const size = new StateSize({ used: () => used, limit: () => 60 * MIB, collect: async () => undefined });
  while (size.add(CHARACTERS, false)) used += 670;
  expect(await size.makeRoom()).toBe(false);
  for (let more = 0; more < 200_000; more++) size.add(CHARACTERS, false);
  const [, needed, room] =
    /need (\d+) MiB of the heap, which has room for (\d+) MiB/.exec(size.tooLarge().reason) ?? [];
  expect(Number(needed)).toBeGreaterThan(150);
  expect(Number(room)).toBeLessThanOrEqual(45);
});
