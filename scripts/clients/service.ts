/** A process of the built service on a free port. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { createInterface } from "node:readline";

/** Until the service listens, and until it has ended. */
const START_MS = 60_000;
const STOP_MS = 15_000;

export class Service {
  readonly url: string;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;

  /** Starts with the settings given and no others. `onLine` gets every line of its log. */
  static async start(
    settings: Readonly<Record<string, string>>,
    onLine: (line: string) => void = () => {},
  ): Promise<Service> {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("OFFLEDGER_"));
    // Without load shedding, which depends on the speed of the machine, unless the settings have it.
    const defaults = { OFFLEDGER_PORT: "0", OFFLEDGER_MAX_DELAY_MS: "0", OFFLEDGER_LOG_REQUESTS: "none" };
    const env = { ...Object.fromEntries(inherited), ...defaults, ...settings };
    const child = spawn(process.execPath, ["dist/src/main.js", "serve"], { env, stdio: ["ignore", "pipe", "pipe"] });
    let timer: NodeJS.Timeout | undefined;
    const listening = new Promise<string>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`the service must listen within ${START_MS} ms`)), START_MS);
      child.on("error", reject).on("exit", (code) => reject(new Error(`the service ended with ${code} at its start`)));
      createInterface({ input: child.stderr }).on("line", (line) => {
        const [, url] = /"url":"([^"]+)","msg":"offledger (?:listens|serves) at/.exec(line) ?? [];
        if (url !== undefined) resolve(url);
        onLine(line);
      });
    });
    try {
      return new Service(await listening, child);
    } catch (error) {
      child.kill("SIGKILL");
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  private constructor(url: string, child: ChildProcessByStdio<null, Readable, Readable>) {
    this.url = url;
    this.#child = child;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), STOP_MS);
    await ended;
    clearTimeout(timer);
  }
}
