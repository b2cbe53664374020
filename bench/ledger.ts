/** What the mirror does with a ledger: how fast it takes and follows it, how soon an answer shows a commit, and its memory. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { startApp } from "../src/app.js";
import { readConfig } from "../src/config/config.js";
import type { Command, Told } from "./participant.js";
import { median, percentile, type Row } from "./report.js";

const CONTRACTS = 100_000;
const FLOOD = 20_000;
const RATE = 1_000;
const SECONDS = 10;
/** Every how manyth commit is asked for. */
const SAMPLE = 10;

export async function benchLedger(): Promise<Row[]> {
  const child = fork(new URL("participant.ts", import.meta.url), { execArgv: ["--import", "tsx"] });
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
      await reached(app.url, () => isReady(app.url));
      const snapshot = (performance.now() - begun) / 1000;
      collect();
      const after = process.memoryUsage();

      tell({ flood: FLOOD });
      const flooded = performance.now();
      await done();
      const last = (CONTRACTS / 2 + FLOOD - 1).toString().padStart(64, "0");
      await reached(app.url, () => isServed(app.url, `00${last}ca121220${"a".repeat(64)}`));
      const applied = (performance.now() - flooded) / 1000;

      const delays: number[] = [];
      const asking: Promise<void>[] = [];
      child.on("message", (told: Told) => {
        if (!("offer" in told)) return;
        asking.push(
          reached(app.url, () => isServed(app.url, told.offer)).then(() => {
            delays.push(performance.timeOrigin + performance.now() - told.at);
          }),
        );
      });
      tell({ trickle: RATE, seconds: SECONDS, sample: SAMPLE });
      await done();
      await Promise.all(asking);
      return [
        [
          "snapshot",
          `${Math.round(CONTRACTS / snapshot)} contracts/s`,
          `${CONTRACTS} contracts in ${snapshot.toFixed(1)} s`,
        ],
        [
          "updates applied",
          `${Math.round(FLOOD / applied)} updates/s`,
          `${FLOOD} updates of two contracts, committed at once`,
        ],
        [
          "commit to answer, median",
          `${median(delays).toFixed(1)} ms`,
          `${delays.length} samples at ${RATE} updates/s`,
        ],
        ["commit to answer, 99th percentile", `${percentile(delays, 0.99).toFixed(1)} ms`, "the same"],
        [
          `heap for ${CONTRACTS} contracts`,
          `${megabytes(after.heapUsed - before.heapUsed)} MB`,
          `resident set ${megabytes(after.rss)} MB`,
        ],
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

/** Asks until it is so, for two minutes at the most. */
async function reached(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + 120_000;
  while (!(await isSo())) {
    if (performance.now() > until) throw new Error(`${what}: waited two minutes in vain`);
    await delay(2);
  }
}

const isReady = async (url: string): Promise<boolean> => {
  const response = await fetch(`${url}/readyz`);
  await response.arrayBuffer();
  return response.status === 200;
};

async function isServed(url: string, offer: string): Promise<boolean> {
  const path = `/api/token-standard/v0/registrars/registrar::1220/registry/transfer-instruction/v2/${offer}/choice-contexts/reject`;
  const response = await fetch(url + path, { method: "POST" });
  await response.arrayBuffer();
  return response.status === 200;
}

const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0);

function collect(): void {
  globalThis.gc?.();
}
