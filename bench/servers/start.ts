/** Starts what is measured: each server in a process of its own, on a core of its own. */
import { startChild } from "../processes/child.js";
import { SERVER_CORE } from "../processes/pinning.js";
import { isReady, reached } from "../wait.js";
import type { Asked, Pauses, Target, Told } from "./target.js";

/** Longest wait until a server listens, and until it has the largest registry, in milliseconds. */
const LISTEN_MS = 60_000;
const READY_MS = 180_000;

/** The young generation that docs/performance.md advises for 100,000 contracts, in megabytes; see startChild. */
export const LARGE_YOUNG_MB = 128;
/** The same for a million. */
export const LARGEST_YOUNG_MB = 256;

export interface Server {
  readonly url: string;
  cpu(): Promise<number>;
  memory(): Promise<NonNullable<Told["memory"]>>;
  watch(): Promise<void>;
  pauses(): Promise<Pauses>;
  trips(): Promise<number>;
  stop(): Promise<void>;
}

/** `youngMegabytes`: see startChild. */
export async function start(target: Target, youngMegabytes?: number): Promise<Server> {
  const script = new URL("main.js", import.meta.url);
  const child = await startChild<Asked, Told>(script, SERVER_CORE, target, LISTEN_MS, youngMegabytes);
  const url = child.begun as string;
  const ask = async <N extends Asked & keyof Told>(name: N): Promise<NonNullable<Told[N]>> => {
    const told = (await child.ask(name))[name];
    if (told === undefined) throw new Error(`a server has no answer to ${name}`);
    return told;
  };
  try {
    if (target.server === "offledger") await reached(READY_MS, "the registry of a server", () => isReady(url));
  } catch (error) {
    await child.stop();
    throw error;
  }
  return {
    url,
    cpu: () => ask("cpu"),
    memory: () => ask("memory"),
    watch: async () => void (await child.ask("watch")),
    pauses: () => ask("pauses"),
    trips: () => ask("trips"),
    stop: () => child.stop(),
  };
}

/** Anything that has to be stopped. */
interface Stoppable {
  stop(): Promise<void>;
}

/** Gives what keeps things to be stopped, and stops them in the end, whatever happens, the last first. */
export async function stopping<T>(
  use: (keep: <S extends Stoppable>(one: Promise<S>) => Promise<S>) => Promise<T>,
): Promise<T> {
  const kept: Stoppable[] = [];
  try {
    return await use(async (starting) => {
      const started = await starting;
      kept.push(started);
      return started;
    });
  } finally {
    for (const one of kept.toReversed()) await one.stop();
  }
}
