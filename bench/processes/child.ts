/** Child processes of the bench, with request and reply over IPC. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { withTimeout } from "../wait.js";
import { pinned } from "./pinning.js";

const GRACE_MS = 5_000;
const REPLY_TIMEOUT_MS = 30_000;
/** The largest registry uses some 3 GB; V8 needs more while it fills. */
const FLAGS = ["--expose-gc", "--max-old-space-size=12000"];

export interface Child<Question, Reply> {
  ask(question: Question, timeoutMs?: number): Promise<Reply>;
  stop(): Promise<void>;
}

export interface ChildOptions {
  readonly script: URL;
  readonly core: number;
  readonly options: unknown;
  readonly startTimeoutMs: number;
  /** Fixed size of V8's semi-space; undefined for the default of Node.js. */
  readonly semiSpaceMegabytes?: number | undefined;
}

/** Starts a script on a core. `started` is its reply to the options. */
export async function startChild<Question, Reply>({
  script,
  core,
  options,
  startTimeoutMs,
  semiSpaceMegabytes,
}: ChildOptions): Promise<Child<Question, Reply> & { readonly started: unknown }> {
  const flags = [...FLAGS];
  if (semiSpaceMegabytes !== undefined) {
    flags.push(`--min-semi-space-size=${semiSpaceMegabytes}`, `--max-semi-space-size=${semiSpaceMegabytes}`);
  }
  const [command = process.execPath, ...args] = pinned(core, [process.execPath, ...flags, fileURLToPath(script)]);
  const childProcess = spawn(command, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const child: Child<Question, Reply> = {
    async ask(question, timeoutMs = REPLY_TIMEOUT_MS) {
      // Both ends are in this repository, so the reply has the type of the question.
      return (await request(childProcess, question, timeoutMs)) as Reply;
    },
    stop: () => stop(childProcess),
  };
  try {
    return { ...child, started: await request(childProcess, options, startTimeoutMs) };
  } catch (error) {
    await child.stop();
    throw error;
  }
}

export type Begin<Options, Question> = (
  options: Options,
) => Promise<{ readonly started: unknown; readonly answer: (question: Question) => unknown }>;

/** Runs the script of a child, which exits with its parent. */
export function serve<Options, Question>(begin: Begin<Options, Question>): void {
  let answer: ((question: Question) => unknown) | undefined;
  const receive = async (message: unknown): Promise<unknown> => {
    if (answer !== undefined) return answer(message as Question);
    const { started, answer: handler } = await begin(message as Options);
    answer = handler;
    return started;
  };
  process.on("disconnect", () => process.exit());
  process.on("message", (message) => {
    receive(message).then(
      (reply) => process.send?.({ reply }),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
        process.exit(1);
      },
    );
  });
}

async function request(child: ChildProcess, question: unknown, timeoutMs: number): Promise<unknown> {
  const settled = new AbortController();
  const message = once(child, "message", { signal: settled.signal });
  const exit = once(child, "exit", { signal: settled.signal }).then(() => {
    throw new Error(`a process of the benchmark exited early: ${child.spawnargs.join(" ")}`);
  });
  try {
    child.send(question as object);
    const response = Promise.race([message, exit]);
    const [envelope] = (await withTimeout(timeoutMs, "reply of a child process", response)) as [object];
    // One property, whose name may differ in another build (bench/ab).
    return Object.values(envelope)[0];
  } finally {
    settled.abort();
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
