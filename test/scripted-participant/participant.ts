/** A participant for tests: the part of the JSON Ledger API v2 that a mirror uses, on real sockets. README.md describes it. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { JsonValue } from "../../src/domain/json.js";
import { checkToken } from "./authentication.js";
import { Calls, type Serving } from "./calls.js";
import type { Vetted } from "./vetting.js";
import type { CheckpointMs } from "./checkpoints.js";
import { Faults } from "./faults.js";
import { answer, type HttpOptions, refuse } from "./http.js";
import { ScriptedLedger } from "./ledger.js";
import { type LoggedRequest, log } from "./request-log.js";
import { Streams } from "./stream-server.js";
import type { Tokens } from "./tokens.js";

export interface ParticipantOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  readonly ledger?: ScriptedLedger;
  /** The accepted tokens. Without them no call needs a token. */
  readonly tokens?: Tokens;
  /** Maximum number of elements in an HTTP response. Default 200. */
  readonly listLimit?: number;
  /** Names of the uploaded packages; others are rejected. Default: every name is accepted. */
  readonly packageNames?: Iterable<string>;
  /** Parties that are known. Default: every party is. */
  readonly parties?: Iterable<string>;
  /** What package-vetting/list answers. Default: nothing. */
  readonly vetted?: readonly Vetted[];
  /** When streams send an OffsetCheckpoint. Default: as rarely as a real participant. */
  readonly checkpointMs?: CheckpointMs;
  /** A WebSocket on which neither side sends for so long is reset, in milliseconds. Default 60,000. */
  readonly silenceMs?: number;
  /** Serves https and wss. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

export class Participant {
  readonly ledger: ScriptedLedger;
  readonly faults: Faults;
  readonly requests: LoggedRequest[] = [];
  readonly url: string;
  readonly port: number;
  readonly #server: ReturnType<typeof createServer>;
  readonly #sockets: ReadonlySet<Socket>;
  readonly #streams: Streams;
  readonly #packageNames: Set<string> | undefined;
  readonly #stopped = new AbortController();
  readonly #answering = new Set<Promise<unknown>>();

  /** Starts on 127.0.0.1. To restart a stopped participant, pass its port and ledger. */
  static async start(options: ParticipantOptions = {}): Promise<Participant> {
    const { port = 0, tls } = options;
    const server = tls === undefined ? createServer() : createSecureServer(tls);
    const sockets = new Set<Socket>();
    server.on("connection", (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    });
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return new Participant(server, sockets, address.port, options);
  }

  private constructor(
    server: ReturnType<typeof createServer>,
    sockets: ReadonlySet<Socket>,
    port: number,
    options: ParticipantOptions,
  ) {
    const {
      ledger = new ScriptedLedger(),
      tokens,
      packageNames,
      parties,
      vetted = [],
      checkpointMs = {},
      silenceMs = 60_000,
      tls,
      listLimit = 200,
    } = options;
    this.ledger = ledger;
    this.port = port;
    this.url = `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`;
    this.#server = server;
    this.#sockets = sockets;
    this.faults = new Faults(() => this.#streams.open);
    const names = packageNames && new Set(packageNames);
    this.#packageNames = names;
    const knownParties = parties && new Set(parties);
    const serving = { ledger, tokens, checkpointMs, packageNames: names, parties: knownParties, vetted };
    this.#streams = new Streams(serving, this.faults, silenceMs);
    const httpOptions: HttpOptions = {
      listLimit,
      ledgerEndMs: () => this.faults.takeLedgerEndMs(),
      ledgerEnd: (end) => this.faults.takeLedgerEnd(end),
      stopped: this.#stopped.signal,
    };
    server.on("request", (request, response) => this.#track(this.#answer(request, response, serving, httpOptions)));
    server.on("upgrade", (request, socket, head) => {
      if (socket instanceof Socket) this.#streams.upgrade(request, socket, head, this.#log(request));
    });
  }

  get streams(): number {
    return this.#streams.open.size;
  }

  /** Uploads a package, where `packageNames` limits them. */
  upload(packageName: string): void {
    this.#packageNames?.add(packageName);
  }

  /** Transactions of parties that no filter names, until the participant stops or the returned function is called. */
  trafficOfOthers(perSecond: number): () => void {
    const timer = setInterval(() => this.ledger.elsewhere(), 1000 / perSecond);
    const end = (): void => clearInterval(timer);
    this.#stopped.signal.addEventListener("abort", end, { once: true });
    return end;
  }

  /** Stops like a crash: cuts every connection and frees the port. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#streams.stop();
    const closed = this.#server.listening ? once(this.#server, "close") : undefined;
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await Promise.allSettled([closed, ...this.#answering, ...this.#streams.serving]);
  }

  /** Stops gracefully: closes streams with 1001, and cuts those still open after 250 ms. */
  async close(): Promise<void> {
    this.#streams.close();
    for (const until = Date.now() + 250; this.#streams.open.size > 0 && Date.now() < until;) await pause(5);
    await this.stop();
  }

  #log(request: IncomingMessage): LoggedRequest {
    const logged = log(request);
    this.requests.push(logged);
    return logged;
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    serving: Serving,
    options: HttpOptions,
  ): Promise<void> {
    const logged = this.#log(request);
    const refused = this.faults.takeRefusal("http", logged.path);
    if (refused !== undefined) {
      logged.status = refuse(response, refused);
      return;
    }
    const callsFor = (body: JsonValue | undefined): Calls => {
      logged.body = body;
      if (logged.path !== "/v2/version") checkToken(serving.tokens, logged.token);
      return new Calls(serving, logged.token);
    };
    logged.status = await answer(request, response, callsFor, options);
  }

  #track(work: Promise<unknown>): void {
    this.#answering.add(work);
    void work.catch(() => {}).finally(() => this.#answering.delete(work));
  }
}
