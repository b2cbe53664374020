/** A large snapshot file, of OFFLEDGER_TEST_FILE_MB: how much memory a service and a mirror need, and how long they pause. */
import { createWriteStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, test } from "vitest";
import { element, payload } from "../../fixtures/elements.js";
import { temporaryFolder } from "../../fixtures/files.js";
import type { Program } from "../../fixtures/program.js";
import { start } from "../../fixtures/program.js";
import { until } from "../../fixtures/wait.js";
import { newDatabase } from "../database/services.js";

const MEGABYTE = 1_000_000;
const FILE_BYTES = Number(process.env["OFFLEDGER_TEST_FILE_MB"] ?? 64) * MEGABYTE;
/** What the process uses with a small file. */
const BASE_BYTES = 150 * MEGABYTE;
const MIRROR_BYTES = 400 * MEGABYTE;
const READY_MS = 60_000 + FILE_BYTES / 1_000;

type Form = "array" | "lines";

/** The same contracts in either form. */
function* elements(form: Form): Generator<string> {
  let written = 0;
  if (form === "array") yield "[";
  for (const [template, content] of [
    ["AllocationFactory", payload.service()],
    ["RegistrarService", payload.service()],
    ["TransferRule", payload.service()],
    ["InstrumentConfiguration", payload.configuration("USD")],
  ] as const)
    yield `${JSON.stringify(element(template, template, content))}${form === "array" ? "," : ""}\n`;
  for (let index = 0; written < FILE_BYTES; index++) {
    const id = `holding-${String(index).padStart(126, "0")}`;
    const blob = Buffer.alloc(1_100, `${index} `).toString("base64");
    const text = JSON.stringify(element("Holding", id, payload.lockedHolding(`holder-${index}`, "USD"), { blob }));
    written += text.length + 2;
    yield form === "array" ? `${text}${written < FILE_BYTES ? "," : "]"}\n` : `${text}\n`;
  }
}

async function largeFile(form: Form): Promise<string> {
  const path = join(await temporaryFolder(), "large.json");
  await pipeline(Readable.from(elements(form)), createWriteStream(path));
  return path;
}

/** Of the whole life of a process, in bytes. */
async function peakBytes({ pid }: Program): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1_024;
}

/** Waits until the service is ready. Returns its longest pause, in milliseconds: each scrape has that since the last. */
async function longestPause(program: Program): Promise<number> {
  const [, metrics = ""] = await program.printed(/"url":"([^"]+)","msg":"metrics listening"/);
  const scrape = async () => (await fetch(metrics)).text();
  // What it does before it reads the file, and what the first scrape takes.
  await scrape();
  await scrape();
  let longest = 0;
  await until(
    "the service is ready",
    async () => {
      const text = await scrape();
      longest = Math.max(longest, Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]));
      return /^offledger_ready 1$/m.test(text);
    },
    READY_MS,
  );
  return longest * 1_000;
}

const hasStatus = process.platform === "linux";

test.runIf(hasStatus).for<Form>(["array", "lines"])("is served and mirrored in pieces: %s", async (form) => {
  const path = await largeFile(form);
  const env = { OFFLEDGER_SNAPSHOT: path, OFFLEDGER_PORT: "0", OFFLEDGER_METRICS_PORT: "0" };
  const { size } = await stat(path);
  const mirror = start(["mirror"], { ...env, OFFLEDGER_DATABASE_URL: await newDatabase() });
  const mirrorPause = await longestPause(mirror);
  const mirrorBytes = await peakBytes(mirror);
  mirror.stop();
  await mirror.ended();
  const service = start(["serve"], env);
  const servicePause = await longestPause(service);
  const serviceBytes = await peakBytes(service);
  console.log(
    `${form}, ${Math.round(size / MEGABYTE)} MB: mirror ${Math.round(mirrorBytes / MEGABYTE)} MB, ` +
      `longest pause ${Math.round(mirrorPause)} ms; serve ${Math.round(serviceBytes / MEGABYTE)} MB, ${Math.round(servicePause)} ms`,
  );
  expect(mirrorBytes).toBeLessThan(MIRROR_BYTES);
  expect(serviceBytes).toBeLessThan(BASE_BYTES + 3 * size);
});
