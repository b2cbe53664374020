/** The built service in its own process, with a probe for its resource usage. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { until, within } from "../../fixtures/wait.js";

const main = fileURLToPath(new URL("../../../dist/src/main.js", import.meta.url));
const probe = new URL("probe.mjs", import.meta.url).href;

const TIMEOUT_MS = 30_000;
const ERROR_LEVEL = 50;
const MAX_ERROR_LINES = 50;

/** Memory in bytes, after garbage collection. */
export interface ResourceUsage {
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
  readonly sockets: number;
  readonly timers: number;
}

export class Service {
  readonly #child: ChildProcess;
  /** Resolves once the process has exited and its log is read. */
  readonly #closed: Promise<unknown>;
  /** Log lines of level error or above, and lines that are not JSON. */
  readonly errorLines: string[] = [];
  #out = "";
  #rest = "";

  /** Starts it on the demo registry and a free port. */
  static async start(env: NodeJS.ProcessEnv): Promise<Service> {
    const service = new Service(env);
    try {
      await until("the service listens", () => service.url !== "" || !service.isAlive, TIMEOUT_MS);
      if (!service.isAlive)
        throw new Error(`the service did not start (run npm run build first): ${service.errorLines.join("\n")}`);
    } catch (error) {
      await service.kill();
      throw error;
    }
    return service;
  }

  private constructor(env: NodeJS.ProcessEnv) {
    const args = ["--expose-gc", "--import", probe, main, "serve", "--host", "127.0.0.1", "--port", "0"];
    this.#child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
    this.#closed = new Promise((resolve) => void this.#child.once("close", resolve));
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      if (this.url === "") this.#out += text;
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#read(text));
  }

  get url(): string {
    return /http:\/\/127\.0\.0\.1:\d+(?=\s)/.exec(this.#out)?.[0] ?? "";
  }

  /** The IPC channel closes before the exit is reported. */
  get isAlive(): boolean {
    return !this.#hasEnded && this.#child.connected;
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async readUsage(): Promise<ResourceUsage | undefined> {
    if (!this.isAlive) return undefined;
    const reply = once(this.#child, "message") as Promise<[ResourceUsage]>;
    const closed = this.#closed.then((): [undefined] => [undefined]);
    this.#child.send("usage", () => {});
    const [usage] = await within(TIMEOUT_MS, "the probe replies", Promise.race([reply, closed]));
    return usage;
  }

  /** Sends SIGTERM and returns the exit code; null if it had to be killed. */
  async stop(): Promise<number | null> {
    if (this.#hasEnded) return this.#child.exitCode;
    this.#child.kill("SIGTERM");
    try {
      await within(TIMEOUT_MS, "the service exits", this.#closed);
    } catch {
      await this.kill();
    }
    return this.#child.exitCode;
  }

  async kill(): Promise<void> {
    if (this.#hasEnded) return;
    this.#child.kill("SIGKILL");
    await this.#closed;
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    const errors = lines.filter((line) => line !== "" && readLevel(line) >= ERROR_LEVEL);
    for (const line of errors) if (this.errorLines.length < MAX_ERROR_LINES) this.errorLines.push(line);
  }
}

/** Node.js warns once that HTTP/2 has no header "connection", which Fastify sets when it leaves a body unread. */
const HARMLESS = /^\(node:\d+\) UnsupportedWarning: The provided connection header |^\(Use `node --trace-warnings /;

function readLevel(line: string): number {
  if (HARMLESS.test(line)) return 0;
  try {
    return (JSON.parse(line) as { level: number }).level;
  } catch {
    return Infinity;
  }
}
