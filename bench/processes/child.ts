/** A process that does something for a benchmark: it is told once what to be, and is asked from then on. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { within } from "../wait.js";
import { pinned } from "./pinning.js";

/** How long a process may take to end by itself when it is told to. */
const GRACE_MS = 5_000;
/** The largest registry has some 3 GB, and V8 asks for more while it is filled. */
const FLAGS = ["--expose-gc", "--max-old-space-size=12000"];

export interface Child<Asked, Told> {
  /** Puts a question; one at a time. */
  ask(question: Asked, milliseconds?: number): Promise<Told>;
  stop(): Promise<void>;
}

/**
 * Starts a script on a core, tells it what to be, and gives what it says when it is that. `youngMegabytes`: the size that half of V8's
 * young generation has and keeps; undefined where it shall be as Node.js has it.
 */
export async function startChild<Asked, Told>(
  script: URL,
  core: number,
  toBe: unknown,
  milliseconds: number,
  youngMegabytes?: number,
): Promise<Child<Asked, Told> & { readonly begun: unknown }> {
  const flags = [...FLAGS];
  if (youngMegabytes !== undefined) {
    flags.push(`--min-semi-space-size=${youngMegabytes}`, `--max-semi-space-size=${youngMegabytes}`);
  }
  const [command = process.execPath, ...args] = pinned(core, [process.execPath, ...flags, fileURLToPath(script)]);
  const process_ = spawn(command, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const child: Child<Asked, Told> = {
    async ask(question, patience = 30_000) {
      // Both ends are of this repository: what comes back is what was asked for.
      return (await answered(process_, question, patience)) as Told;
    },
    stop: () => stop(process_),
  };
  try {
    return { ...child, begun: await answered(process_, toBe, milliseconds) };
  } catch (error) {
    await child.stop();
    throw error;
  }
}

/** What a script does with what it is told to be: it says that it has begun, and has an answer to each question. */
export type Begin<ToBe, Asked> = (
  toBe: ToBe,
) => Promise<{ readonly begun: unknown; readonly answer: (asked: Asked) => unknown }>;

/** Runs the script of a child. A parent that is gone ends it. */
export function serve<ToBe, Asked>(begin: Begin<ToBe, Asked>): void {
  let answer: ((asked: Asked) => unknown) | undefined;
  // The parent tells first what to be, and asks from then on.
  const receive = async (message: unknown): Promise<unknown> => {
    if (answer !== undefined) return answer(message as Asked);
    const { begun, answer: answerer } = await begin(message as ToBe);
    answer = answerer;
    return begun;
  };
  process.on("disconnect", () => process.exit());
  process.on("message", (message) => {
    receive(message).then(
      (told) => process.send?.({ told }),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
        process.exit(1);
      },
    );
  });
}

async function answered(child: ChildProcess, question: unknown, milliseconds: number): Promise<unknown> {
  const end = new AbortController();
  const message = once(child, "message", { signal: end.signal });
  const exit = once(child, "exit", { signal: end.signal }).then(() => {
    throw new Error(`a process of the benchmark has ended: ${child.spawnargs.join(" ")}`);
  });
  try {
    child.send(question as object);
    const [{ told }] = (await within(milliseconds, "a process", Promise.race([message, exit]))) as [{ told: unknown }];
    return told;
  } finally {
    end.abort();
    // The one that has not come is given up, which is no trouble.
    await Promise.allSettled([message, exit]);
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill();
  const timer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
  await exit;
  clearTimeout(timer);
}
