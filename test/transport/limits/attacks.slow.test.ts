/**
 * Families of attacks under a memory limit, directly on the service: it lives, answers right, and its health answers.
 * OFFLEDGER_ATTACK_SECONDS is how long each takes, 15 by default; docs/security.md has the figures of 60.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createCertificates } from "../../fixtures/certificates.js";
import { temporaryFile } from "../../fixtures/files.js";
import { main, Program } from "../../fixtures/program.js";
import { requestHttp1, type HttpResponse } from "../../fixtures/http-requests.js";
import { until, within } from "../../fixtures/wait.js";
import { BEGUN_CONNECTIONS, FAMILIES, type FamilyName, type Tally, TRANSFER_FACTORY } from "./families.js";

const SECONDS = Number(process.env["OFFLEDGER_ATTACK_SECONDS"] ?? 15);
const MIB = 1024 * 1024;
const MEMORY_BYTES = 512 * MIB;
const PROBE_MS = 250;
/** Each is a connection to accept. */
const FRESH_MS = 1_000;
const HEALTH_MS = 1_000;
/** Of a processor, which the service under these attacks can use up. */
const ENOUGH_SHARE = 0.6;
const SETTLE_MS = 30_000;

/** What Node.js and the service choose in a container of 512 MiB: half for the heap, from which the budgets follow. */
const HEAP_FLAG = "--max-old-space-size=256";
const settings = {
  OFFLEDGER_HOST: "127.0.0.1",
  OFFLEDGER_PORT: "0",
  OFFLEDGER_METRICS_PORT: "127.0.0.1:0",
  OFFLEDGER_MAX_DELAY_MS: "250",
  OFFLEDGER_LOG_REQUESTS: "none",
};

interface Service {
  readonly program: Program;
  readonly url: string;
  /** The operator's port. */
  readonly operatorUrl: string;
}

async function startService(family: FamilyName): Promise<Service> {
  const env = { ...settings, ...(family === "TLS connections" && (await certificateSettings())) };
  const program = new Program(process.execPath, [HEAP_FLAG, main, "serve"], { cwd: process.cwd(), env });
  const [, metricsUrl = ""] = await program.printed(/"url":"(http[^"]+)","msg":"metrics listening/);
  return { program, url: await program.listens(), operatorUrl: new URL(metricsUrl).origin };
}

async function certificateSettings(): Promise<Readonly<Record<string, string>>> {
  const { cert, key } = createCertificates();
  return {
    OFFLEDGER_TLS_CERT_FILE: await temporaryFile("cert.pem", cert),
    OFFLEDGER_TLS_KEY_FILE: await temporaryFile("key.pem", key),
  };
}

function startAttack(family: FamilyName, url: string): ChildProcess {
  const script = fileURLToPath(new URL("attackers.ts", import.meta.url));
  const attacker = fork(script, [family, url], { execArgv: ["--import", "tsx"] });
  onTestFinished(() => void attacker.kill("SIGKILL"));
  return attacker;
}

const ask = (url: string): Promise<HttpResponse> =>
  requestHttp1(
    url,
    TRANSFER_FACTORY.path,
    { "content-type": "application/json" },
    TRANSFER_FACTORY.body,
    freshAgent(url),
  );

/** The certificate is of no authority that Node.js knows. */
const agentOptions = { rejectUnauthorized: false } as const;
const freshAgent = (url: string): http.Agent | undefined =>
  url.startsWith("https:") ? new https.Agent(agentOptions) : undefined;

/** Asks for health, on a kept connection and on new ones, and for an answer, while the attack goes on. */
class Caller {
  readonly delays = { kept: [] as number[], fresh: [] as number[], operator: [] as number[] };
  /** By status, or "failed". */
  readonly answers: Record<string, number> = {};
  readonly wrong: string[] = [];
  readonly #url: string;
  readonly #right: string;
  readonly #kept: http.Agent;
  readonly #pending = new Set<Promise<void>>();
  readonly #timers: readonly NodeJS.Timeout[];

  constructor({ url, operatorUrl }: Service, right: string) {
    this.#url = url;
    const kept = { keepAlive: true, maxSockets: 1 };
    this.#kept = url.startsWith("https:") ? new https.Agent({ ...kept, ...agentOptions }) : new http.Agent(kept);
    this.#right = right;
    this.#timers = [
      this.#every(PROBE_MS, () => this.#probe("kept", url, this.#kept)),
      this.#every(FRESH_MS, () => this.#probe("fresh", url, freshAgent(url))),
      this.#every(FRESH_MS, () => this.#probe("operator", operatorUrl, freshAgent(operatorUrl))),
      this.#every(FRESH_MS, () => this.#ask()),
    ];
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#pending);
    this.#kept.destroy();
  }

  /** One at a time: a probe that waits for another says nothing about the service. */
  #every(ms: number, run: () => Promise<void>): NodeJS.Timeout {
    let isRunning = false;
    return setInterval(() => {
      if (isRunning) return;
      isRunning = true;
      const task = run().finally(() => {
        isRunning = false;
        this.#pending.delete(task);
      });
      this.#pending.add(task);
    }, ms);
  }

  async #probe(kind: keyof Caller["delays"], url: string, agent?: http.Agent): Promise<void> {
    const begun = performance.now();
    const response = await requestHttp1(url, "/livez", {}, undefined, agent).catch(String);
    this.delays[kind].push(typeof response === "string" ? Infinity : performance.now() - begun);
    if (typeof response !== "string" && response.body !== '{"status":"ok"}')
      this.wrong.push(`${kind}: ${response.status} ${response.body}`);
  }

  async #ask(): Promise<void> {
    const response = await ask(this.#url).catch(String);
    const outcome = typeof response === "string" ? "failed" : String(response.status);
    this.answers[outcome] = (this.answers[outcome] ?? 0) + 1;
    if (typeof response === "string") return;
    if (response.status === 200 ? response.body !== this.#right : response.status !== 503)
      this.wrong.push(`${outcome} ${response.body}`);
  }
}

/** From /proc; undefined once the process has ended. The kernel counts time in hundredths of a second. */
function readUsage(pid: number): { readonly peakRss: number; readonly cpuSeconds: number } | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the process, in parentheses, may contain spaces. User and system time are the 14th and 15th field.
    const [user, system] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13);
    if (kilobytes === undefined) return undefined;
    return { peakRss: Number(kilobytes) * 1024, cpuSeconds: (Number(user) + Number(system)) / 100 };
  } catch {
    return undefined;
  }
}

/** Sorts. */
const summaryOf = (delays: number[]) => {
  delays.sort((a, b) => a - b);
  const at = (share: number) => delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? Infinity;
  return {
    median: at(0.5),
    text: `median ${at(0.5).toFixed(0)} ms, p99 ${at(0.99).toFixed(0)} ms, most ${at(1).toFixed(0)} ms`,
  };
};

/** They open connections, and send no request. */
const SILENT = new Set<FamilyName>(["connections", "slow headers", "TLS connections"]);

/** Whether the attack took place: what it spared does not show that the service stands it. */
function tookPlace(family: FamilyName, { opened, requests, sentBytes, answers }: Tally): boolean {
  if (opened < BEGUN_CONNECTIONS || sentBytes === 0) return false;
  // Who resets takes no answer.
  const isAnswered = family === "resets" || Object.keys(answers).length > 0;
  return SILENT.has(family) || (requests >= BEGUN_CONNECTIONS && isAnswered);
}

test.skipIf(process.platform !== "linux").each(FAMILIES)(
  "%s",
  async (family) => {
    const service = await startService(family);
    const { program, url } = service;
    // Where the machine is busy, a service that has just started may say that it is overloaded.
    let first = await ask(url);
    await until("it answers", async () => first.status === 200 || (first = await ask(url)).status === 200, SETTLE_MS);
    const right = first.body;
    expect(JSON.parse(right)).toMatchObject({
      transferKind: "offer",
      choiceContext: { disclosedContracts: expect.any(Array) },
    });
    const begun = performance.now();
    const caller = new Caller(service, right);
    const attacker = startAttack(family, url);
    const ended = once(attacker, "exit");
    // It may be refused at once, or its process may take long to start.
    await within(SETTLE_MS, "the attack begins", once(attacker, "message"));
    const over = new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000));
    await Promise.race([over, program.exit, ended]);
    const tally = once(attacker, "message");
    attacker.send("stop");
    const failed = ended.then(([code]) => Promise.reject(new Error(`the attacker has exited with ${String(code)}`)));
    const [report] = (await within(SETTLE_MS, "the attacker ends", Promise.race([tally, failed]))) as [Tally];
    await caller.stop();
    const usage = readUsage(program.pid);
    const share = ((usage?.cpuSeconds ?? 0) * 1_000) / (performance.now() - begun);
    const { answers, wrong } = caller;
    const { kept, fresh, operator } = caller.delays;
    const [ofKept, ofFresh, ofOperator] = [summaryOf(kept), summaryOf(fresh), summaryOf(operator)];
    const memory = Math.round((usage?.peakRss ?? Infinity) / MIB);
    process.stdout.write(
      `${family}: health on a kept connection ${ofKept.text}, on new ones ${ofFresh.text}, on the operator's port ${ofOperator.text}; ` +
        `answers ${JSON.stringify(answers)}; most memory ${memory} MiB; ${share.toFixed(2)} of a processor; attack ${JSON.stringify(report)}\n`,
    );
    expect(tookPlace(family, report), JSON.stringify(report)).toBe(true);
    expect(usage, program.err).toBeDefined();
    expect(wrong).toEqual([]);
    expect(usage?.peakRss).toBeLessThanOrEqual(MEMORY_BYTES);
    // A busy machine must not fail a build: where the service did not get the processor, its time says nothing.
    // Who holds all connections leaves none: what others have, and the operator's port, goes on.
    const judged = family === "TLS connections" ? [ofKept, ofOperator] : [ofKept, ofFresh, ofOperator];
    const medians = share > ENOUGH_SHARE ? judged.map(({ median }) => median) : [0];
    expect(Math.max(...medians)).toBeLessThan(HEALTH_MS);
    // Where attackers use up the budgets, it says so.
    expect((answers[200] ?? 0) + (answers[503] ?? 0)).toBeGreaterThan(0);
    await until("it answers as before", async () => (await ask(url)).body === right, SETTLE_MS);
  },
  (SECONDS + 120) * 1_000,
);
