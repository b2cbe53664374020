/** The built service in its own process, with a probe for its memory. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { within } from "../fixtures/wait.js";
import type { Memory } from "./memory.js";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const PROBE = new URL("report-memory.mjs", import.meta.url).href;
const START_TIMEOUT_MS = 30_000;
const REPLY_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 15_000;
const MAX_LINES = 40;

export class Service {
  readonly url: string;
  readonly log: readonly string[];
  readonly #child: ChildProcess;

  /** Starts it with settings by their environment variables, without `OFFLEDGER_`. */
  static async start(settings: Readonly<Record<string, string | number>>): Promise<Service> {
    const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("OFFLEDGER_"));
    const own = Object.entries(settings).map(([name, value]) => [`OFFLEDGER_${name}`, String(value)]);
    const child = spawn(process.execPath, ["--expose-gc", "--import", PROBE, MAIN, "serve"], {
      env: { ...Object.fromEntries(clean), ...Object.fromEntries(own) },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      // Ctrl-C must reach the soak only, which then stops the service.
      detached: true,
    });
    const log: string[] = [];
    // Reads both streams, since a full pipe would block the service.
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) throw new Error("the service has no output to read");
      createInterface(stream).on("line", (line) => {
        log.push(line);
        if (log.length > MAX_LINES) log.shift();
      });
    }
    try {
      return new Service(child, log, await within(START_TIMEOUT_MS, "the service listens", readUrl(child)));
    } catch (error) {
      child.kill("SIGKILL");
      throw new Error(`${String(error)} (run npm run build first); it printed:\n${log.join("\n")}`, {
        cause: error,
      });
    }
  }

  private constructor(child: ChildProcess, log: readonly string[], url: string) {
    this.#child = child;
    this.log = log;
    this.url = url;
  }

  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async memory(): Promise<Memory> {
    if (this.hasExited) throw new Error("the service has exited");
    const reply = once(this.#child, "message");
    this.#child.send({});
    const [memory] = (await within(REPLY_TIMEOUT_MS, "the probe replies", reply)) as [Memory];
    return memory;
  }

  /** Sends SIGTERM. Returns what is wrong with the exit, or undefined. */
  async stop(): Promise<string | undefined> {
    if (this.hasExited) return `the service exited early: ${this.#child.exitCode ?? this.#child.signalCode}`;
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    try {
      const [code] = (await within(STOP_TIMEOUT_MS, "the service exits", exit)) as [number | null];
      return code === 0 ? undefined : `the service exited with ${code}`;
    } catch {
      this.#child.kill("SIGKILL");
      await exit;
      return `the service did not exit within ${STOP_TIMEOUT_MS} ms of SIGTERM`;
    }
  }
}

async function readUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4_000);
      const [, url] = /\blisten\w* (?:at|on) (http:\S+)/.exec(output) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once("exit", (code) => reject(new Error(`the service exited with ${code}`)));
    child.once("error", reject);
  });
}
