/** Runs all generators against a service, and compares its resource usage before and after. */
import { until } from "../fixtures/wait.js";
import { findUncovered } from "./corpus.js";
import { generators } from "./generators/index.js";
import { findLeaks } from "./leak-check.js";
import { Target } from "./send/target.js";
import { type ResourceUsage, Service } from "./service/service.js";
import { type Failure, FuzzWorker, type Tally } from "./worker.js";

export interface FuzzOptions {
  readonly seed: number;
  readonly inputs: number;
  readonly limitMs: number;
  /** Also waits until the service has closed HTTP/2 connections whose clients violated the protocol and left. */
  readonly waitsForAll: boolean;
  /** Sends only inputs of one generator, by index; `to` is excluded. */
  readonly only?: { readonly generator: string; readonly from: number; readonly to: number } | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Called every few seconds with the number of inputs sent. */
  readonly progress?: (sent: number) => void;
}

export interface FuzzReport {
  readonly sent: number;
  readonly seconds: number;
  readonly maxLatencyMs: number;
  readonly results: ReadonlyMap<string, number>;
  readonly before: ResourceUsage | undefined;
  readonly after: ResourceUsage | undefined;
  readonly failures: readonly Failure[];
}

const PROGRESS_MS = 10_000;
/** Longer than the service waits for a request and then keeps the silent connection. */
const CLOSE_TIMEOUT_MS = 130_000;
/** A stall of the machine and lingering connections after broken HTTP/2 must not fail a run. */
export const SERVICE_DEFAULTS = { OFFLEDGER_MAX_DELAY_MS: "0", OFFLEDGER_MAX_CONNECTIONS: "100000" };

/** Inputs before the first look at resources: a new service has not compiled its code yet. */
const WARM_UP = { share: 0.2, max: 20_000 };

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const uncovered = findUncovered();
  if (uncovered.length > 0) throw new Error(`test/fixtures/calls has no request for ${uncovered.join(", ")}`);
  const service = await Service.start(options.env);
  const tally: Tally = { failures: [], results: new Map(), sent: 0 };
  const timer = setInterval(() => options.progress?.(tally.sent), PROGRESS_MS);
  const startedAt = performance.now();
  try {
    const measured = await sendAll(service, tally, options);
    return { ...measured, seconds: (performance.now() - startedAt) / 1000, ...tally };
  } finally {
    clearInterval(timer);
    await service.kill();
  }
}

type Measured = Pick<FuzzReport, "before" | "after" | "maxLatencyMs">;

async function sendAll(service: Service, tally: Tally, options: FuzzOptions): Promise<Measured> {
  const { hostname, port } = new URL(service.url);
  const target = new Target(hostname, Number(port), options.limitMs);
  const workers = generators.map((generator) => new FuzzWorker(generator, options.seed, tally));
  const shouldContinue = () => service.isAlive && service.errorLines.length === 0;
  const fail = (fault: string, shown = "") => tally.failures.push({ input: "all", fault, shown });
  try {
    const ranges = assignRanges(options);
    const warmUp = Math.min(WARM_UP.share * options.inputs, WARM_UP.max) / options.inputs;
    const run = (part: (from: number, to: number) => readonly [from: number, to: number]) =>
      Promise.all(
        workers.map((worker, index) => worker.run(target, ...part(...(ranges[index] ?? [0, 0])), shouldContinue)),
      );
    const warmUpEnd = (from: number, to: number) => from + Math.round((to - from) * warmUp);
    await run((from, to) => [from, warmUpEnd(from, to)]);
    const before = await service.readUsage();
    await run((from, to) => [warmUpEnd(from, to), to]);
    target.close();
    const after = await readIdleUsage(service, options.waitsForAll ? CLOSE_TIMEOUT_MS : 0);
    const lingering = options.waitsForAll ? 0 : target.lingering;
    if (before !== undefined && after !== undefined) {
      for (const leak of findLeaks(before, after, lingering)) fail(leak);
    }
    if (target.maxLatencyMs > options.limitMs) fail(`the slowest response took ${Math.round(target.maxLatencyMs)} ms`);
    const wasAlive = service.isAlive;
    const code = await service.stop();
    const recent = `in flight or just sent: ${formatRecent(workers)}`;
    if (!wasAlive) fail(`the service exited; ${recent}`);
    else if (code !== 0) fail(`the service exited with ${code ?? "a signal"} after SIGTERM`);
    if (service.errorLines.length > 0) fail(`the service logged:\n${service.errorLines.join("\n")}`, recent);
    return { before, after, maxLatencyMs: target.maxLatencyMs };
  } finally {
    target.close();
  }
}

function assignRanges({ only, inputs }: FuzzOptions): (readonly [from: number, to: number])[] {
  return generators.map(({ name, share }) => {
    if (only !== undefined) return only.generator === name ? [only.from, only.to] : [0, 0];
    return [0, Math.round((inputs * share) / 100)];
  });
}

/** The resource usage once no connection is open, or after the timeout. */
async function readIdleUsage(service: Service, timeoutMs: number): Promise<ResourceUsage | undefined> {
  let usage = await service.readUsage();
  try {
    await until(
      "connections are closed",
      async () => ((usage = await service.readUsage())?.sockets ?? 0) === 0,
      timeoutMs,
    );
  } catch {}
  return usage;
}

const formatRecent = (workers: readonly FuzzWorker[]): string =>
  workers.flatMap((worker) => [...worker.recent].map((index) => `${worker.name}:${index}`)).join(" ");
