/** The built service in its own process, as an operator starts it, under a memory limit. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pinned, SERVER_CORE } from "../../processes/pinning.js";
import { isReady, pollUntil } from "../../wait.js";
import { createMemoryLimit, type MemoryLimit } from "./memory-limit.js";
import { readUsage, UsageSampler, type Usage } from "./usage.js";

const START_TIMEOUT_MS = 60_000;
/** The service itself allows pending requests 5 seconds. */
const STOP_TIMEOUT_MS = 15_000;
const MAX_LOG_TAIL = 4_096;

export interface ServiceOptions {
  readonly checkout: string;
  readonly memoryMiB: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly maxDescriptors?: number | undefined;
}

export interface Service {
  readonly url: string;
  readonly limit: MemoryLimit["kind"];
  readonly exited: Promise<void>;
  usage(): Usage | undefined;
  peaks(): { readonly rss: number; readonly descriptors: number };
  /** How the process ended; undefined while it runs. */
  death(): string | undefined;
  /** The end of the log, which shows why it ended. */
  logTail(): string;
  stop(): Promise<void>;
}

export async function startService({
  checkout,
  memoryMiB,
  settings,
  maxDescriptors,
}: ServiceOptions): Promise<Service> {
  const main = join(checkout, "dist/src/main.js");
  if (!existsSync(main)) throw new Error(`${main} must exist: run npm run build in ${checkout}`);
  const limit = createMemoryLimit(memoryMiB * 1024 * 1024);
  const command = limited(limit, maxDescriptors, pinned(SERVER_CORE, [process.execPath, main, "serve", "--port", "0"]));
  const child = spawn(command[0] ?? "", command.slice(1), {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...cleanEnvironment(), ...settings },
    cwd: checkout,
  });
  const exited = once(child, "exit").then(() => undefined);
  let [out, log] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out = (out + text).slice(-MAX_LOG_TAIL)));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log = (log + text).slice(-MAX_LOG_TAIL)));
  const urlOf = () => /http:\/\/127\.0\.0\.1:\d+(?=\s)/.exec(out)?.[0];
  const pid = child.pid ?? 0;
  let exceeds = false;
  const sampler = new UsageSampler(pid, limit.bytes, () => {
    if (limit.kind !== "sampling") return;
    exceeds = true;
    child.kill("SIGKILL");
  });
  const stop = async () => {
    sampler.stop();
    await end(child, exited);
    await limit.stop();
    process.off("SIGTERM", abandon).off("SIGINT", abandon);
  };
  // Nothing else ends the service when the bench is ended.
  const abandon = () => void stop().finally(() => process.exit(1));
  process.once("SIGTERM", abandon).once("SIGINT", abandon);
  try {
    await pollUntil(START_TIMEOUT_MS, "the service is ready", async () => {
      if (hasEnded(child)) throw new Error(`the service did not start: ${log}`);
      const url = urlOf();
      return url !== undefined && (await isReady(url));
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: urlOf() ?? "",
    limit: limit.kind,
    exited,
    usage: () => readUsage(pid),
    peaks: () => ({ rss: sampler.peakRss, descriptors: sampler.peakDescriptors }),
    death: () => (hasEnded(child) ? describeDeath(child, exceeds || limit.hasKilled()) : undefined),
    logTail: () => log,
    stop,
  };
}

/** The shell joins the limits and becomes the service, which keeps the process id. */
function limited(limit: MemoryLimit, maxDescriptors: number | undefined, command: readonly string[]): string[] {
  const steps: string[] = [];
  if (limit.membersFile !== undefined) steps.push(`echo $$ > '${limit.membersFile}'`);
  if (maxDescriptors !== undefined) steps.push(`ulimit -n ${maxDescriptors}`);
  return ["/bin/sh", "-c", [...steps, 'exec "$@"'].join(" && "), "sh", ...command];
}

const cleanEnvironment = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("OFFLEDGER_") && name !== "NODE_OPTIONS"),
  );

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

function describeDeath({ exitCode, signalCode }: ChildProcess, isOverLimit: boolean): string {
  if (isOverLimit) return "killed: memory limit";
  return signalCode === null ? `exit ${exitCode}` : signalCode;
}

async function end(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (hasEnded(child)) return;
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}
