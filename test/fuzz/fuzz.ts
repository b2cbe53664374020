/** Runs all generators against a service, and compares what the service uses before and after. */
import { setTimeout as pause } from "node:timers/promises";
import { BuiltService, type ResourceUsage } from "../fixtures/built-service.js";
import { findUncovered, sendControlRequests } from "./corpus.js";
import { http1 } from "./http1.js";
import { http2 } from "./http2.js";
import { createPrng } from "./prng.js";
import { rest, rpc } from "./requests.js";
import { type InputGenerator, Target } from "./send.js";

export const generators: readonly InputGenerator[] = [rest, rpc, http1, http2];

export interface FuzzOptions {
  readonly seed: number;
  readonly inputs: number;
  readonly limitMs: number;
  /** Also waits until the service has closed HTTP/2 connections whose clients violated the protocol and left. */
  readonly waitsForAll: boolean;
  /** Sends only inputs of one generator, by index; `to` is excluded. */
  readonly only?: { readonly generator: string; readonly from: number; readonly to: number } | undefined;
  /** Settings of the service. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called every few seconds with the number of inputs sent. */
  readonly progress?: (sent: number) => void;
}

interface Failure {
  /** Repeats it with OFFLEDGER_FUZZ_ONLY: `rest:17`. */
  readonly input: string;
  readonly fault: string;
  readonly shown: string;
}

export interface FuzzReport {
  sent: number;
  seconds: number;
  maxLatencyMs: number;
  /** Counts by generator and result, as `rest 200`. */
  readonly results: Map<string, number>;
  before: ResourceUsage | undefined;
  after: ResourceUsage | undefined;
  readonly failures: Failure[];
}

const PROGRESS_MS = 10_000;
/** Longer than the service waits for a request, for the client to take the response, and then keeps the silent connection. */
const CLOSE_TIMEOUT_MS = 200_000;
const IDLE_POLL_MS = 100;

/** Inputs before the first look at resources: a new service has not compiled its code yet. */
const WARM_UP = { share: 0.2, max: 20_000 };
const BATCH = 250;
const MAX_FAILURES = 20;

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const uncovered = findUncovered();
  if (uncovered.length > 0) throw new Error(`test/fixtures/calls has no request for ${uncovered.join(", ")}`);
  const service = await BuiltService.start({ settings: options.settings ?? {} });
  const run = new Run(service, options);
  const timer = setInterval(() => options.progress?.(run.report.sent), PROGRESS_MS);
  const startedAt = performance.now();
  try {
    await run.sendAll();
    run.report.seconds = (performance.now() - startedAt) / 1000;
    return run.report;
  } finally {
    clearInterval(timer);
    run.target.close();
    await service.kill();
  }
}

class Run {
  readonly target: Target;
  readonly report: FuzzReport = {
    sent: 0,
    seconds: 0,
    maxLatencyMs: 0,
    results: new Map(),
    before: undefined,
    after: undefined,
    failures: [],
  };
  readonly #service: BuiltService;
  readonly #options: FuzzOptions;
  /** The latest inputs of each generator. */
  readonly #recent = new Map(generators.map(({ name }) => [name, new Set<number>()]));

  constructor(service: BuiltService, options: FuzzOptions) {
    const { hostname, port } = new URL(service.url);
    this.target = new Target(hostname, Number(port), options.limitMs);
    this.#service = service;
    this.#options = options;
  }

  async sendAll(): Promise<void> {
    const { limitMs, inputs, waitsForAll } = this.#options;
    const { report, target } = this;
    const service = this.#service;
    const warmUp = Math.min(WARM_UP.share * inputs, WARM_UP.max) / inputs;
    await this.#sendPart(0, warmUp);
    if (service.isAlive) report.before = await service.usage();
    await this.#sendPart(warmUp, 1);
    target.close();
    if (service.isAlive) report.after = await readIdleUsage(service, waitsForAll ? CLOSE_TIMEOUT_MS : 0);
    if (report.before !== undefined && report.after !== undefined) {
      const leaks = findLeaks(report.before, report.after, waitsForAll ? 0 : target.lingering);
      for (const leak of leaks) this.#fail("all", leak);
    }
    report.maxLatencyMs = target.maxLatencyMs;
    if (report.maxLatencyMs > limitMs) this.#fail("all", `the slowest response took ${Math.round(limitMs)} ms`);
    const exit = await service.stop();
    if (exit !== undefined) this.#fail("all", exit, this.#describeRecent());
    if (service.errorLines.length > 0)
      this.#fail("all", `the service logged:\n${service.errorLines.join("\n")}`, this.#describeRecent());
  }

  /** Sends the inputs of all generators from one share of the run to another. */
  async #sendPart(from: number, to: number): Promise<void> {
    const { only, inputs } = this.#options;
    const runs = generators.map((generator) => {
      const isOnly = only?.generator === generator.name;
      const first = isOnly ? only.from : 0;
      const count = isOnly ? only.to - first : only === undefined ? Math.round((inputs * generator.share) / 100) : 0;
      return this.#sendRange(generator, first + Math.round(count * from), first + Math.round(count * to));
    });
    await Promise.all(runs);
  }

  /** Checks after each batch that valid requests still succeed. */
  async #sendRange(generator: InputGenerator, from: number, to: number): Promise<void> {
    const { name, inFlight } = generator;
    const mayContinue = () =>
      this.#service.isAlive && this.#service.errorLines.length === 0 && this.report.failures.length < MAX_FAILURES;
    for (let first = from; first < to && mayContinue(); first += BATCH) {
      const end = Math.min(first + BATCH, to);
      let next = first;
      const sendNext = async () => {
        while (next < end && mayContinue()) await this.#send(generator, next++);
      };
      await Promise.all(Array.from({ length: inFlight }, sendNext));
      const fault = mayContinue() ? await sendControlRequests(this.target) : undefined;
      if (fault !== undefined) this.#fail(`${name}:${first}-${end - 1}`, fault, "caused by one of these, or earlier");
    }
  }

  async #send(generator: InputGenerator, index: number): Promise<void> {
    const { name, inFlight } = generator;
    const recent = this.#recent.get(name);
    const [oldest] = recent?.add(index) ?? [];
    if (recent && oldest !== undefined && recent.size > 3 * inFlight) recent.delete(oldest);
    const input = generator.make(createPrng(this.#options.seed, name, index));
    const { result, fault } = await input.send(this.target);
    const key = `${name} ${result}`;
    this.report.results.set(key, (this.report.results.get(key) ?? 0) + 1);
    this.report.sent++;
    if (fault !== undefined) this.#fail(`${name}:${index}`, fault, input.show());
  }

  #fail(input: string, fault: string, shown = ""): void {
    this.report.failures.push({ input, fault, shown });
  }

  #describeRecent(): string {
    const inputs = [...this.#recent].flatMap(([name, recent]) => [...recent].map((index) => `${name}:${index}`));
    return `in flight or just sent: ${inputs.join(" ")}`;
  }
}

/** What the service uses once no connection is open, or after the timeout. */
async function readIdleUsage(service: BuiltService, timeoutMs: number): Promise<ResourceUsage> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline && (await service.usage(false)).sockets > 0) await pause(IDLE_POLL_MS);
  return service.usage();
}

const MB = 1024 * 1024;

/** Growth since the warm-up that compiled code, tables and pooled buffers explain. None of them grows without bound. */
const MAX_GROWTH = { heapUsed: 12 * MB, external: 48 * MB, rss: 256 * MB };
const MAX_MORE_TIMERS = 8;
/** Of a connection that lingers: its session, and its streams until their time limits. */
const LINGERING_BYTES = 64 * 1024;

/** Returns a message for each bound that is exceeded. `lingering` connections may be open, with memory and a timer each. */
export function findLeaks(before: ResourceUsage, after: ResourceUsage, lingering = 0): string[] {
  const leaks: string[] = [];
  for (const [name, bound] of Object.entries(MAX_GROWTH) as [keyof typeof MAX_GROWTH, number][]) {
    const max = bound + lingering * LINGERING_BYTES;
    const growth = after[name] - before[name];
    if (growth > max) leaks.push(`${name} grew by ${formatMiB(growth)}, more than ${formatMiB(max)}`);
  }
  if (after.sockets > lingering) leaks.push(`${after.sockets} connections are open that the clients have closed`);
  if (after.timers > before.timers + MAX_MORE_TIMERS + lingering)
    leaks.push(`${after.timers} timers are active, ${before.timers} after the warm-up`);
  return leaks;
}

export const formatMiB = (bytes: number): string => `${(bytes / MB).toFixed(1)} MiB`;
