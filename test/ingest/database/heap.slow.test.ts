/** A large registry in an index, which does not fit the heap. */
import { expect, test } from "vitest";
import { until } from "../../fixtures/wait.js";
import { Pairs } from "./pairs.js";
import { becomesReady, command, listening, onLedger } from "./services.js";

const CONTRACTS = 30_000;

test("a registry that does not fit the heap ends the start, and fits what the message names", async () => {
  const { settings } = await onLedger(new Pairs(CONTRACTS));
  const mirror = command("mirror", settings);
  await until("it has filled the database", () => mirror.err.includes("snapshot of the ledger loaded"), 120_000);
  const small = command("api", { ...settings, environment: { NODE_OPTIONS: "--max-old-space-size=40" } });
  const { code, err } = await small.ended();
  expect(code).toBe(2);
  const [, options] =
    /^offledger: the [\d,]+ contracts of the database need .*: set NODE_OPTIONS=(\S+)$/m.exec(err) ?? [];
  const large = command("api", { ...settings, environment: { NODE_OPTIONS: options ?? "none" } });
  await becomesReady(await listening(large));
  large.stop();
  expect((await large.ended()).code).toBe(0);
});
