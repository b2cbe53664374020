/** The built service while the clock of its machine is set, which faketime plays. */
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { temporaryFile } from "../../fixtures/files.js";
import { until } from "../../fixtures/wait.js";
import { Pairs } from "./pairs.js";
import { askConfigurations } from "./queries.js";
import { becomesReady, command, listening, onLedger, unreadiness } from "./services.js";

/** Prints what faketime has a program preload. */
const faketime = spawnSync("faketime", ["-f", "+0", "printenv", "LD_PRELOAD"], { encoding: "utf8" });
const isSkipped = faketime.status !== 0;
if (isSkipped) console.warn("skipped: faketime is not installed");

const STALE_SECONDS = 10;

/** Milliseconds by which the clock of a service differs from ours, as its responses say. */
async function skewOf(url: string): Promise<number> {
  const { headers } = await fetch(`${url}/livez`);
  return Date.parse(headers.get("date") ?? "") - Date.now();
}

describe.skipIf(isSkipped)("a clock that is set", () => {
  test.each([
    ["back an hour, in memory", -1, false],
    ["forward an hour, with a database", 1, true],
  ])("%s, ages nothing, and renews nothing of a participant that is frozen", async (_how, hours, hasDatabase) => {
    const pairs = new Pairs(10);
    const { participant, settings } = await onLedger(pairs);
    const clock = await temporaryFile("clock", "+0\n");
    const service = command("serve", {
      ...settings,
      more: { STALE_SECONDS, ...(hasDatabase ? {} : { DATABASE_URL: "" }) },
      environment: {
        LD_PRELOAD: faketime.stdout.trim(),
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_NO_CACHE: "1",
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
      },
    });
    const url = await listening(service);
    await becomesReady(url);
    const answer = async () => (await askConfigurations(url, pairs)).status;
    const set = async (to: number) => {
      await writeFile(clock, `${to < 0 ? "" : "+"}${to}h\n`);
      await until("its clock is set", async () => Math.abs((await skewOf(url)) - to * 3_600_000) < 600_000);
    };
    await set(hours);
    const { tags } = pairs.replace(0);
    await until("it follows", async () => (await askConfigurations(url, pairs)).tags?.join() === tags.join());
    expect([await unreadiness(url), await answer()]).toEqual([undefined, 200]);

    participant.faults.leaveUnanswered({ times: 1_000_000 });
    participant.faults.silence({ streams: "open", answersPings: false });
    await until("it is not ready", async () => (await unreadiness(url)) !== undefined);
    expect(await unreadiness(url)).toMatch(/the ledger has not been reached for \d+ s/);
    await until("it answers 503", async () => (await answer()) === 503);
    await set(-hours);
    expect([await unreadiness(url), await answer()]).toEqual([expect.any(String), 503]);
  });
});
