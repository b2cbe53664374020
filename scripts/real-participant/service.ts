/** The built service, as a process of its own on free ports of this machine. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../src/util/json.js";
import { type Context, readContext } from "../../test/fidelity/contexts.js";

const main = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));

const START_MS = 60_000;
const STOP_MS = 10_000;
const MAX_LOG_LINES = 10_000;

/** A request that the service does not answer. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";

  constructor(
    readonly status: number,
    answer: JsonObject,
  ) {
    super(`${status} ${JSON.stringify(answer)}`);
  }
}

export class Service {
  /** Milliseconds that each answer took. */
  readonly durations: number[] = [];

  private constructor(
    readonly url: string,
    readonly operatorUrl: string,
    /** The latest lines of its log. */
    readonly log: readonly string[],
    /** Ends it; resolves once it has. */
    readonly stop: () => Promise<void>,
  ) {}

  /** Starts it with these settings. Resolves when it is ready, or listens at least where `ready` is false. */
  static async start(settings: Readonly<Record<string, string>>, ready = true): Promise<Service> {
    const [port, operatorPort] = [await freePort(), await freePort()];
    const others = Object.entries(process.env).filter(([name]) => !name.startsWith("OFFLEDGER_"));
    const child = spawn(process.execPath, [main, "serve"], {
      env: {
        ...Object.fromEntries(others),
        OFFLEDGER_PORT: String(port),
        OFFLEDGER_METRICS_PORT: String(operatorPort),
        OFFLEDGER_LOG_REQUESTS: "none",
        ...settings,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const ended = once(child, "close");
    const log: string[] = [];
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log.push(...text.split("\n").filter((line) => line !== ""));
      log.splice(0, log.length - MAX_LOG_LINES);
    });
    const stop = async (): Promise<void> => {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await ended;
      clearTimeout(timer);
    };
    const [url, operatorUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${operatorPort}`];
    const path = ready ? "/readyz" : "/livez";
    const isUp = () =>
      fetch(url + path).then(
        ({ ok }) => ok,
        () => false,
      );
    for (const since = Date.now(); !(await isUp()); await pause(100)) {
      if (child.exitCode === null && Date.now() - since < START_MS) continue;
      await stop();
      throw new Error(`the service does not start:\n${log.slice(-20).join("\n")}`);
    }
    return new Service(url, operatorUrl, log, stop);
  }

  /** Asks for a context or a factory. Throws RefusedError. */
  async ask(path: string, body: JsonObject = {}): Promise<Context> {
    const since = performance.now();
    const response = await fetch(this.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as JsonObject;
    this.durations.push(performance.now() - since);
    if (response.status !== 200) throw new RefusedError(response.status, answer);
    return readContext(answer);
  }

  async isReady(): Promise<boolean> {
    return (await fetch(`${this.url}/readyz`)).ok;
  }
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}
