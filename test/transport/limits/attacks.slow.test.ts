/**
 * Six families of attacks under a memory limit, directly on the service: it lives, answers right, and its health answers.
 * OFFLEDGER_ATTACK_SECONDS is how long each takes, 60 by default. docs/decisions/attacks.md has the figures.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { readUsage } from "../../../bench/attacks/service/usage.js";
import { main, Program } from "../../fixtures/program.js";
import { requestHttp1, type HttpResponse } from "../../fixtures/http-requests.js";
import { until, within } from "../../fixtures/wait.js";
import { FAMILIES, type FamilyName, TRANSFER_FACTORY } from "./families.js";

const SECONDS = Number(process.env["OFFLEDGER_ATTACK_SECONDS"] ?? 60);
const MIB = 1024 * 1024;
const MEMORY_BYTES = 512 * MIB;
const PROBE_MS = 250;
const HEALTH_MS = 1_000;
const SETTLE_MS = 30_000;

/** What Node.js and the service choose in a container of 512 MiB: half for the heap, and their shares for the budgets. */
const HEAP_FLAG = "--max-old-space-size=256";
const settings = {
  OFFLEDGER_HOST: "127.0.0.1",
  OFFLEDGER_PORT: "0",
  OFFLEDGER_MAX_BODY_MEGABYTES: "32",
  OFFLEDGER_MAX_RESPONSE_MEGABYTES: "64",
  OFFLEDGER_MAX_DELAY_MS: "250",
  OFFLEDGER_LOG_REQUESTS: "none",
};

async function startService(): Promise<readonly [program: Program, url: string]> {
  const program = new Program(process.execPath, [HEAP_FLAG, main, "serve"], { cwd: process.cwd(), env: settings });
  const [, url = ""] = await program.printed(/serves .* at (http:\/\/127\.0\.0\.1:\d+)/);
  return [program, url];
}

function startAttack(family: FamilyName, url: string): ChildProcess {
  const script = fileURLToPath(new URL("attackers.ts", import.meta.url));
  const attacker = fork(script, [family, url], { execArgv: ["--import", "tsx"] });
  onTestFinished(() => void attacker.kill("SIGKILL"));
  return attacker;
}

const ask = (url: string): Promise<HttpResponse> =>
  requestHttp1(url, TRANSFER_FACTORY.path, { "content-type": "application/json" }, TRANSFER_FACTORY.body);

/** Asks for health, on a connection of its own and on a kept one, and for an answer, while the attack goes on. */
class Caller {
  readonly delays: number[] = [];
  /** By status, or "failed". */
  readonly answers: Record<string, number> = {};
  readonly wrong: string[] = [];
  readonly #url: string;
  readonly #right: string;
  readonly #kept = new http.Agent({ keepAlive: true, maxSockets: 1 });
  readonly #pending = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  constructor(url: string, right: string) {
    this.#url = url;
    this.#right = right;
    this.#timer = setInterval(() => {
      for (const task of [this.#probe(), this.#probe(this.#kept), this.#ask()]) {
        this.#pending.add(task);
        void task.finally(() => this.#pending.delete(task));
      }
    }, PROBE_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
    this.#kept.destroy();
  }

  async #probe(agent?: http.Agent): Promise<void> {
    const begun = performance.now();
    const response = await requestHttp1(this.#url, "/livez", {}, undefined, agent).catch(String);
    this.delays.push(performance.now() - begun);
    if (typeof response === "string" || response.status !== 200) this.wrong.push(`/livez: ${JSON.stringify(response)}`);
  }

  async #ask(): Promise<void> {
    const response = await ask(this.#url).catch(String);
    const outcome = typeof response === "string" ? "failed" : String(response.status);
    this.answers[outcome] = (this.answers[outcome] ?? 0) + 1;
    if (typeof response === "string") return;
    if (response.status === 200 ? response.body !== this.#right : response.status !== 503)
      this.wrong.push(response.body);
  }
}

test.skipIf(process.platform !== "linux").each(FAMILIES)(
  "%s",
  async (family) => {
    const [program, url] = await startService();
    const { status, body: right } = await ask(url);
    expect(status).toBe(200);
    expect(JSON.parse(right)).toMatchObject({
      transferKind: "offer",
      choiceContext: { disclosedContracts: expect.any(Array) },
    });
    const begun = performance.now();
    const caller = new Caller(url, right);
    const attacker = startAttack(family, url);
    const ended = once(attacker, "exit");
    const over = new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000));
    await Promise.race([over, program.exit, ended]);
    const tally = once(attacker, "message");
    attacker.send("stop");
    const [report] = (await within(SETTLE_MS, "the attacker ends", tally)) as [object];
    await caller.stop();
    const usage = readUsage(program.pid);
    // A busy machine must not fail a build: the time that the service waited for a processor does not count.
    const share = Math.min(1, ((usage?.cpuSeconds ?? 0) * 1_000) / (performance.now() - begun));
    const { delays, answers, wrong } = caller;
    delays.sort((a, b) => a - b);
    const median = delays[Math.floor(delays.length / 2)] ?? Infinity;
    const memory = Math.round((usage?.peakRss ?? Infinity) / MIB);
    const [most, p99] = [delays.at(-1) ?? Infinity, delays[Math.floor(delays.length * 0.99)] ?? Infinity];
    process.stdout.write(
      `${family}: health median ${median.toFixed(1)} ms, p99 ${p99.toFixed(0)} ms, most ${most.toFixed(0)} ms; ` +
        `answers ${JSON.stringify(answers)}; most memory ${memory} MiB; ${share.toFixed(2)} of a processor; attack ${JSON.stringify(report)}\n`,
    );
    expect(usage, program.err).toBeDefined();
    expect(wrong).toEqual([]);
    expect(usage?.peakRss).toBeLessThanOrEqual(MEMORY_BYTES);
    expect(median * share).toBeLessThan(HEALTH_MS);
    expect(answers[200] ?? 0).toBeGreaterThan(0);
    await until("it answers as before", async () => (await ask(url)).body === right, SETTLE_MS);
  },
  (SECONDS + 120) * 1_000,
);
