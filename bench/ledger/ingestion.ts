/** Ingestion from a ledger: snapshot and update throughput, time from commit to response, and memory. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { startApp } from "../../src/app/app.js";
import { readConfig } from "../../src/config/config.js";
import type { Command, Message } from "./participant-process.js";
import { median, percentile, type Row } from "../report/row.js";
import { isReady, pollUntil } from "../wait.js";

const CONTRACTS = 100_000;
const FLOOD = 20_000;
const RATE = 1_000;
const SECONDS = 10;
const SAMPLE = 10;
const TIMEOUT_MS = 120_000;

export async function measureIngestion(): Promise<Row[]> {
  const child = fork(new URL("participant-process.js", import.meta.url));
  try {
    const [{ url }] = (await once(child, "message")) as [{ url: string }];
    const send = (command: Command) => child.send(command);
    const waitUntilDone = async (): Promise<number> => {
      for (;;) {
        const [message] = (await once(child, "message")) as [Message];
        if ("done" in message) return message.end;
      }
    };
    send({ fill: CONTRACTS });
    await waitUntilDone();
    collect();
    const before = process.memoryUsage();
    const startedAt = performance.now();
    const app = await startApp(createConfig(url));
    try {
      await pollUntil(TIMEOUT_MS, app.url, () => isReady(app.url));
      const snapshot = (performance.now() - startedAt) / 1000;
      collect();
      const after = process.memoryUsage();

      send({ flood: FLOOD });
      const floodedAt = performance.now();
      await waitUntilDone();
      const last = (CONTRACTS / 2 + FLOOD - 1).toString().padStart(64, "0");
      await pollUntil(TIMEOUT_MS, app.url, () => isServed(app.url, `00${last}ca121220${"a".repeat(64)}`));
      const applied = (performance.now() - floodedAt) / 1000;

      const delays: number[] = [];
      const polls: Promise<void>[] = [];
      child.on("message", (message: Message) => {
        if (!("offer" in message)) return;
        polls.push(
          pollUntil(TIMEOUT_MS, app.url, () => isServed(app.url, message.offer)).then(() => {
            delays.push(performance.timeOrigin + performance.now() - message.at);
          }),
        );
      });
      send({ trickle: RATE, seconds: SECONDS, sample: SAMPLE });
      await waitUntilDone();
      await Promise.all(polls);
      const samples = `${delays.length} samples at ${RATE} updates/s`;
      return [
        {
          title: "snapshot throughput",
          figure: { value: CONTRACTS / snapshot, unit: "contracts/s" },
          note: `${CONTRACTS} contracts in ${snapshot.toFixed(1)} s`,
        },
        {
          title: "update throughput",
          figure: { value: FLOOD / applied, unit: "updates/s" },
          note: `${FLOOD} updates of two contracts, committed at once`,
        },
        { title: "commit to response, median", figure: { value: median(delays), unit: "ms" }, note: samples },
        {
          title: "commit to response, p99",
          figure: { value: percentile(delays, 0.99), unit: "ms" },
          note: samples,
        },
        {
          title: `heap for ${CONTRACTS} contracts`,
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

function createConfig(url: string) {
  const read = readConfig([], {
    OFFLEDGER_PORT: "0",
    OFFLEDGER_LOG_LEVEL: "silent",
    OFFLEDGER_LEDGER_URL: url,
    OFFLEDGER_LEDGER_PARTIES: "operator::1220",
  });
  if (!read.ok) throw new Error(read.errors.join("\n"));
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
