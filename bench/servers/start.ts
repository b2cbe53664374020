/** Starts a measured server in its own process on its own core. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startChild } from "../processes/child.js";
import { SERVER_CORE } from "../processes/pinning.js";
import { isReady, pollUntil } from "../wait.js";
import type { Question, Reply, Target } from "./target.js";

const LISTEN_TIMEOUT_MS = 60_000;
const READY_TIMEOUT_MS = 180_000;

/** The semi-space that docs/performance.md recommends for 100,000 contracts, in megabytes. */
export const LARGE_SEMI_SPACE_MB = 128;
export const LARGEST_SEMI_SPACE_MB = 256;

export interface Server {
  readonly url: string;
  cpu(): Promise<number>;
  memory(): Promise<NonNullable<Reply["memory"]>>;
  roundTrips(): Promise<number>;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly semiSpaceMegabytes?: number;
  /** The folder of another checkout, whose bench/build is started instead of this build. */
  readonly checkout?: string;
}

export async function startServer(
  target: Target,
  { semiSpaceMegabytes, checkout }: StartOptions = {},
): Promise<Server> {
  const child = await startChild<Question, Reply>({
    script: checkout === undefined ? new URL("main.js", import.meta.url) : mainOf(checkout),
    core: SERVER_CORE,
    options: target,
    startTimeoutMs: LISTEN_TIMEOUT_MS,
    semiSpaceMegabytes,
  });
  const url = child.started as string;
  const ask = async <N extends Question & keyof Reply>(name: N): Promise<NonNullable<Reply[N]>> => {
    const value = (await child.ask(name))[name];
    if (value === undefined) throw new Error(`the server process has no reply to ${name}`);
    return value;
  };
  try {
    if (target.server === "offledger") await pollUntil(READY_TIMEOUT_MS, "server is ready", () => isReady(url));
  } catch (error) {
    await child.stop();
    throw error;
  }
  return {
    url,
    cpu: () => ask("cpu"),
    memory: () => ask("memory"),
    roundTrips: () => ask("roundTrips"),
    stop: () => child.stop(),
  };
}

const mainOf = (checkout: string): URL => pathToFileURL(join(checkout, "bench/build/bench/servers/main.js"));
