/** What the mirror does with a ledger: how fast it takes and follows it, how soon an answer shows a commit, and its memory. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { startApp } from "../../src/app/app.js";
import { readConfig } from "../../src/config/config.js";
import type { Command, Told } from "./participant-process.js";
import { median, percentile, type Row } from "../report/row.js";
import { isReady, reached } from "../wait.js";

const CONTRACTS = 100_000;
const FLOOD = 20_000;
const RATE = 1_000;
const SECONDS = 10;
/** Every how manyth commit is asked for. */
const SAMPLE = 10;
/** Longest wait for anything. */
const PATIENCE_MS = 120_000;

export async function benchLedger(): Promise<Row[]> {
  const child = fork(new URL("participant-process.js", import.meta.url));
  try {
    const [{ url }] = (await once(child, "message")) as [{ url: string }];
    const tell = (command: Command) => child.send(command);
    const done = async (): Promise<number> => {
      for (;;) {
        const [told] = (await once(child, "message")) as [Told];
        if ("done" in told) return told.end;
      }
    };
    tell({ fill: CONTRACTS });
    await done();
    collect();
    const before = process.memoryUsage();
    const begun = performance.now();
    const app = await startApp(configOn(url));
    try {
      await reached(PATIENCE_MS, app.url, () => isReady(app.url));
      const snapshot = (performance.now() - begun) / 1000;
      collect();
      const after = process.memoryUsage();

      tell({ flood: FLOOD });
      const flooded = performance.now();
      await done();
      const last = (CONTRACTS / 2 + FLOOD - 1).toString().padStart(64, "0");
      await reached(PATIENCE_MS, app.url, () => isServed(app.url, `00${last}ca121220${"a".repeat(64)}`));
      const applied = (performance.now() - flooded) / 1000;

      const delays: number[] = [];
      const asking: Promise<void>[] = [];
      child.on("message", (told: Told) => {
        if (!("offer" in told)) return;
        asking.push(
          reached(PATIENCE_MS, app.url, () => isServed(app.url, told.offer)).then(() => {
            delays.push(performance.timeOrigin + performance.now() - told.at);
          }),
        );
      });
      tell({ trickle: RATE, seconds: SECONDS, sample: SAMPLE });
      await done();
      await Promise.all(asking);
      const samples = `${delays.length} samples at ${RATE} updates/s`;
      return [
        {
          what: "snapshot",
          figure: { value: CONTRACTS / snapshot, unit: "contracts/s" },
          note: `${CONTRACTS} contracts in ${snapshot.toFixed(1)} s`,
        },
        {
          what: "updates applied",
          figure: { value: FLOOD / applied, unit: "updates/s" },
          note: `${FLOOD} updates of two contracts, committed at once`,
        },
        { what: "commit to answer, median", figure: { value: median(delays), unit: "ms" }, note: samples },
        {
          what: "commit to answer, 99th percentile",
          figure: { value: percentile(delays, 0.99), unit: "ms" },
          note: samples,
        },
        {
          what: `heap for ${CONTRACTS} contracts`,
          figure: { value: megabytes(after.heapUsed - before.heapUsed), unit: "MB" },
          note: `resident set ${megabytes(after.rss).toFixed(0)} MB`,
        },
      ];
    } finally {
      await app.close();
    }
  } finally {
    child.disconnect();
  }
}

function configOn(url: string) {
  const read = readConfig([], {
    OFFLEDGER_PORT: "0",
    OFFLEDGER_LOG_LEVEL: "silent",
    OFFLEDGER_LEDGER_URL: url,
    OFFLEDGER_LEDGER_PARTIES: "operator::1220",
  });
  if (!read.ok) throw new Error(read.wrong.join("\n"));
  return read.config;
}

async function isServed(url: string, offer: string): Promise<boolean> {
  const path = `/api/token-standard/v0/registrars/registrar::1220/registry/transfer-instruction/v2/${offer}/choice-contexts/reject`;
  const response = await fetch(url + path, { method: "POST" });
  await response.arrayBuffer();
  return response.status === 200;
}

const megabytes = (bytes: number): number => bytes / 1024 / 1024;

function collect(): void {
  globalThis.gc?.();
}
