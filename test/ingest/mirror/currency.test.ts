/** At no time is an answer given from a state that the ledger did not have within the limit of staleness. */
import { expect, test } from "vitest";
import { run } from "./virtual/run.js";
import { scriptOf } from "./virtual/script.js";

const SCRIPTS = Number(process.env["OFFLEDGER_TEST_SCRIPTS"] ?? 200);
const FIRST = Number(process.env["OFFLEDGER_TEST_SEED"] ?? 1);

test(
  `holds over ${SCRIPTS} random scripts`,
  async () => {
    const failed: string[] = [];
    let [served, refused] = [0, 0];
    const begun = performance.now();
    for (let seed = FIRST; seed < FIRST + SCRIPTS; seed++) {
      const outcome = await run(scriptOf(seed), seed);
      served += outcome.served;
      refused += outcome.refused;
      if (outcome.wrong !== undefined) failed.push(`seed ${seed}: ${outcome.wrong}`);
    }
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    console.log(
      `${SCRIPTS} scripts in ${seconds} s: ${served} states served, ${refused} refused, ${failed.length} failed`,
    );
    expect(failed.slice(0, 20)).toEqual([]);
    expect(served).toBeGreaterThan(10 * SCRIPTS);
    expect(refused).toBeGreaterThan(SCRIPTS);
  },
  60_000 + SCRIPTS * 200,
);
