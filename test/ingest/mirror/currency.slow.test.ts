/** More of the random scripts of currency.test.ts. Each thousand takes some seconds. */
import { expect, test } from "vitest";
import { runAll } from "./virtual/run.js";

const SCRIPTS = Number(process.env["OFFLEDGER_TEST_SCRIPTS"] ?? 2_000);
const FIRST = Number(process.env["OFFLEDGER_TEST_SEED"] ?? 1_001);

test(
  `holds over ${SCRIPTS} random scripts`,
  async () => {
    expect((await runAll(FIRST, SCRIPTS)).failed.slice(0, 20)).toEqual([]);
  },
  60_000 + SCRIPTS * 200,
);
