/** More of the random scripts of simulation.test.ts. */
import { expect, test } from "vitest";
import { describeFailure, runAll } from "./run.js";

const [FIRST, SEEDS] = [51, 1_000];

test(
  `holds over ${SEEDS} random scripts`,
  async () => {
    const { failed } = await runAll(FIRST, SEEDS);
    expect(failed.map(describeFailure)).toEqual([]);
  },
  10 * 60_000,
);
