/** The built service as a process of its own, which tells its memory when it is asked. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { within } from "../test/fixtures/wait.js";
import type { Memory } from "./memory.js";

const MAIN = fileURLToPath(new URL("../dist/src/main.js", import.meta.url));
const TELLING = new URL("report-memory.mjs", import.meta.url).href;
const START_MS = 30_000;
const ANSWER_MS = 30_000;
/** Longer than the service gives requests under way. */
const STOP_MS = 15_000;
/** Lines of its log that are kept. */
const LINES = 40;

export class Service {
  readonly url: string;
  /** The last lines of its log. */
  readonly log: readonly string[];
  readonly #child: ChildProcess;

  /** Starts it with settings, by their names without `OFFLEDGER_`. */
  static async start(settings: Readonly<Record<string, string | number>>): Promise<Service> {
    const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("OFFLEDGER_"));
    const own = Object.entries(settings).map(([name, value]) => [`OFFLEDGER_${name}`, String(value)]);
    const child = spawn(process.execPath, ["--expose-gc", "--import", TELLING, MAIN, "serve"], {
      env: { ...Object.fromEntries(clean), ...Object.fromEntries(own) },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      // Ctrl-C is for the soak, which stops the service when it is done with it.
      detached: true,
    });
    const log: string[] = [];
    // Both are read to the end: a full pipe would hold the service up.
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) throw new Error("the service has no output to read");
      createInterface(stream).on("line", (line) => {
        log.push(line);
        if (log.length > LINES) log.shift();
      });
    }
    try {
      return new Service(child, log, await within(START_MS, "the service listens", listening(child)));
    } catch (error) {
      child.kill("SIGKILL");
      throw new Error(`${String(error)}; it printed ${log.join("\n")}. Build it first: npm run build`, {
        cause: error,
      });
    }
  }

  private constructor(child: ChildProcess, log: readonly string[], url: string) {
    this.#child = child;
    this.log = log;
    this.url = url;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** What it holds once it has collected its garbage. One question at a time. */
  async memory(): Promise<Memory> {
    if (this.hasEnded) throw new Error("the service has ended");
    const told = once(this.#child, "message");
    this.#child.send({});
    // Both ends are of this folder.
    const [memory] = (await within(ANSWER_MS, "the service tells its memory", told)) as [Memory];
    return memory;
  }

  /** Stops it in good order; says what was wrong with its end, or undefined. */
  async stop(): Promise<string | undefined> {
    if (this.hasEnded) return `the service had ended: ${this.#child.exitCode ?? this.#child.signalCode}`;
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    try {
      const [code] = (await within(STOP_MS, "the service has ended", exit)) as [number | null];
      return code === 0 ? undefined : `the service ended with ${code}`;
    } catch {
      this.#child.kill("SIGKILL");
      await exit;
      return `the service did not end within ${STOP_MS} ms of SIGTERM`;
    }
  }
}

async function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000);
      const [, url] = /listens at (http:\S+)/.exec(said) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once("exit", (code) => reject(new Error(`the service ended with ${code}`)));
    child.once("error", reject);
  });
}
