/**
 * An honest caller: 50 requests a second, each due at a fixed time, on a connection that is replaced every 0.3 seconds.
 * A request that is due while the connection is busy opens another. Beside it a liveness probe every second.
 */
import http from "node:http";
import { once } from "node:events";
import { abortAfter } from "../../../src/util/async.js";
import { type Figures, Phase, type PhaseName } from "./figures.js";
import type { HonestRequest } from "./requests.js";

const REQUEST_INTERVAL_MS = 20;
const CONNECTION_MS = 300;
const TIMEOUT_MS = 10_000;
const PROBE_INTERVAL_MS = 1_000;
/** The default of a Kubernetes probe. */
const PROBE_TIMEOUT_MS = 1_000;

export class HonestCaller {
  readonly #url: string;
  readonly #requests: readonly HonestRequest[];
  readonly #headers: Readonly<Record<string, string>>;
  readonly #pending = new Set<Promise<void>>();
  readonly #phases: Record<PhaseName, Phase> = { quiet: new Phase(), attack: new Phase(), after: new Phase() };
  readonly #timers: readonly NodeJS.Timeout[];
  #phase = this.#phases.quiet;
  #connection = new ReusedConnection();
  #connectedAt = performance.now();
  #sent = 0;

  constructor(url: string, requests: readonly HonestRequest[], token: string | undefined) {
    this.#url = url;
    this.#requests = requests;
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#headers = { "content-type": "application/json", ...authorization };
    const startedAt = performance.now();
    this.#timers = [
      setInterval(() => {
        const due = (performance.now() - startedAt) / REQUEST_INTERVAL_MS;
        while (this.#sent < due) this.#own(this.#send(startedAt + this.#sent * REQUEST_INTERVAL_MS));
      }, REQUEST_INTERVAL_MS / 4),
      setInterval(() => this.#own(this.#probe()), PROBE_INTERVAL_MS),
    ];
  }

  enter(phase: PhaseName): void {
    this.#phase = this.#phases[phase];
  }

  /** Stops, and waits for the responses that are still due. */
  async finish(): Promise<Readonly<Record<PhaseName, Figures>>> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#pending);
    this.#connection.retire();
    const { quiet, attack, after } = this.#phases;
    return { quiet: quiet.figures(), attack: attack.figures(), after: after.figures() };
  }

  #own(task: Promise<void>): void {
    this.#pending.add(task);
    void task.finally(() => this.#pending.delete(task));
  }

  async #send(dueAt: number): Promise<void> {
    const request = this.#requests[this.#sent++ % this.#requests.length];
    if (request === undefined) return;
    const phase = this.#phase;
    if (performance.now() - this.#connectedAt > CONNECTION_MS) {
      this.#connection.retire();
      this.#connection = new ReusedConnection();
      this.#connectedAt = performance.now();
    }
    const connection = this.#connection;
    const options = { method: "POST", headers: this.#headers };
    const result = await connection.use((agent) => this.#exchange(request.path, { ...options, agent }, request.body));
    phase.add(result, performance.now() - dueAt);
  }

  async #probe(): Promise<void> {
    const phase = this.#phase;
    phase.addProbe(await this.#exchange("/livez", { agent: false, timeout: PROBE_TIMEOUT_MS }));
  }

  /** Returns the status, or the code of the error, once the response is complete. */
  async #exchange(path: string, options: http.RequestOptions, body?: string): Promise<string> {
    try {
      // Nothing but the time ends a request, so each has a parent of its own.
      const parent = new AbortController().signal;
      return await abortAfter(options.timeout ?? TIMEOUT_MS, parent, async (signal) => {
        const request = http.request(`${this.#url}${path}`, { ...options, signal });
        request.end(body);
        const [response] = (await once(request, "response", { signal })) as [http.IncomingMessage];
        response.resume();
        await once(response, "end", { signal });
        return String(response.statusCode);
      });
    } catch (error) {
      return errorCode(error);
    }
  }
}

function errorCode(error: unknown): string {
  if (error instanceof Error && error.name === "AbortError") return "timeout";
  return (error as NodeJS.ErrnoException).code ?? "error";
}

/** An agent that is destroyed once it is retired and its requests are done. */
class ReusedConnection {
  readonly #agent = new http.Agent({ keepAlive: true });
  #users = 0;
  #isRetired = false;

  async use<T>(send: (agent: http.Agent) => Promise<T>): Promise<T> {
    this.#users++;
    try {
      return await send(this.#agent);
    } finally {
      this.#users--;
      this.#closeIfUnused();
    }
  }

  retire(): void {
    this.#isRetired = true;
    this.#closeIfUnused();
  }

  #closeIfUnused(): void {
    if (this.#isRetired && this.#users === 0) this.#agent.destroy();
  }
}
