import { unwatchFile, watchFile } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { ReloadedFiles } from "../../src/util/reloaded-files.js";
import { temporaryFolder } from "../fixtures/files.js";
import { gate, until } from "../fixtures/wait.js";

test("a read that takes long does not replace what was read after it", async () => {
  const path = join(await temporaryFolder(), "token");
  const slow = gate();
  let isSlow = false;
  await writeFile(path, "first");
  const file = await ReloadedFiles.load("token", [path], async () => {
    const text = await readFile(path, "utf8");
    isSlow ||= text === "slow";
    if (text === "slow") await slow.opened;
    return text;
  });
  const used: string[] = [];
  file.onChange((text) => used.push(text));
  await writeFile(path, "slow");
  let isNoticed = false;
  const notice = () => void (isNoticed = true);
  file.watch(pino({ enabled: false }));
  onTestFinished(() => file.close());
  await until("the slow read has begun", () => isSlow);
  // The watch looks at the file with this one.
  watchFile(path, { interval: 1_000 }, notice);
  onTestFinished(() => unwatchFile(path, notice));
  await writeFile(path, "the last");
  await until("the change is noticed", () => isNoticed);
  // For a read that does not wait for the slow one.
  await pause(200);
  slow.open();
  await until("both are used", () => used.length === 2);
  expect(used).toEqual(["slow", "the last"]);
});
