/** The built service as a process of its own, with a look inside. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { until, within } from "../../test/fixtures/wait.js";

const main = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const probe = new URL("probe.mjs", import.meta.url).href;

/** Longest that it may take to start, to tell of itself, or to end, in milliseconds. */
const BOUND_MS = 30_000;
/** Where the levels of the log begin to mean that something is wrong: pino's error. */
const ERROR = 50;
/** The most lines that are kept of what it complains about. */
const MOST_COMPLAINTS = 50;

/** What the service holds, in bytes, after garbage has been collected. */
export interface Inside {
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
  /** Connections that are open. */
  readonly sockets: number;
  readonly timers: number;
}

export class Service {
  readonly #child: ChildProcess;
  /** Lines of its standard error that have no place there: errors, and what is no log. */
  readonly complaints: string[] = [];
  #out = "";
  #left = "";

  /** Starts it on the demo registry, and on a port of the system's choice. */
  static async start(env: NodeJS.ProcessEnv): Promise<Service> {
    const service = new Service(env);
    try {
      await until("the service listens", () => service.url !== "" || !service.isAlive, BOUND_MS);
      if (!service.isAlive)
        throw new Error(`it has not started; npm run build makes it: ${service.complaints.join("\n")}`);
    } catch (error) {
      await service.kill();
      throw error;
    }
    return service;
  }

  private constructor(env: NodeJS.ProcessEnv) {
    const args = ["--expose-gc", "--import", probe, main, "serve", "--host", "127.0.0.1", "--port", "0"];
    this.#child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      if (this.url === "") this.#out += text;
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#read(text));
  }

  get url(): string {
    return /http:\/\/127\.0\.0\.1:\d+(?=\s)/.exec(this.#out)?.[0] ?? "";
  }

  /** Whether it goes on. Its channel closes before the system tells that it has ended. */
  get isAlive(): boolean {
    return !this.#hasEnded && this.#child.connected;
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** What it holds; undefined where it has ended. */
  async inside(): Promise<Inside | undefined> {
    if (!this.isAlive) return undefined;
    const told = once(this.#child, "message") as Promise<[Inside]>;
    const ended = once(this.#child, "close").then((): [undefined] => [undefined]);
    // That it has ended meanwhile is seen by that.
    this.#child.send("look", () => {});
    const [inside] = await within(BOUND_MS, "the service tells what it holds", Promise.race([told, ended]));
    return inside;
  }

  /** Stops it as an operator does, and gives its exit code; null where it had to be killed. */
  async stop(): Promise<number | null> {
    if (this.#hasEnded) return this.#child.exitCode;
    const ended = once(this.#child, "close");
    this.#child.kill("SIGTERM");
    try {
      await within(BOUND_MS, "the service has ended", ended);
    } catch {
      await this.kill();
    }
    return this.#child.exitCode;
  }

  async kill(): Promise<void> {
    if (this.#hasEnded) return;
    const ended = once(this.#child, "close");
    this.#child.kill("SIGKILL");
    await ended;
  }

  #read(text: string): void {
    const lines = (this.#left + text).split("\n");
    this.#left = lines.pop() ?? "";
    const bad = lines.filter((line) => line !== "" && levelOf(line) >= ERROR);
    for (const line of bad) if (this.complaints.length < MOST_COMPLAINTS) this.complaints.push(line);
  }
}

/** Node.js says once that over HTTP/2 there is no header "connection", which Fastify sets where it leaves a body unread. */
const HARMLESS = /^\(node:\d+\) UnsupportedWarning: The provided connection header |^\(Use `node --trace-warnings /;

/** The level of a line of the log. What is no such line is worse than any. */
function levelOf(line: string): number {
  if (HARMLESS.test(line)) return 0;
  try {
    return (JSON.parse(line) as { level: number }).level;
  } catch {
    return Infinity;
  }
}
