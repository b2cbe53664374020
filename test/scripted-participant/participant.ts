/** A participant for tests: the part of the JSON Ledger API v2 that a mirror uses, on real sockets. README.md describes it. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { JsonValue } from "../../src/util/json.js";
import { Calls, type Serving, type Vetted } from "./calls.js";
import { Faults } from "./faults.js";
import { answer, refuse } from "./http.js";
import { ScriptedLedger } from "./ledger.js";
import { Streams } from "./streams.js";
import { checkToken, protocolsOf, type Tokens, tokenOf } from "./tokens.js";

/** A call that a participant has received. */
export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly protocols: readonly string[];
  /** The body, or the first message of a WebSocket. */
  body: JsonValue | undefined;
  /** The status of the response; 101 for an accepted WebSocket. */
  status: number | undefined;
}

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
  /** How soon streams send an OffsetCheckpoint. Default: as rarely as a real participant. */
  readonly checkpointMs?: number;
}

export class Participant {
  readonly ledger: ScriptedLedger;
  readonly faults: Faults;
  readonly requests: LoggedRequest[] = [];
  readonly url: string;
  readonly port: number;
  /** Names of packages without a version that is vetted. */
  readonly unvetted = new Set<string>();
  readonly #server: Server;
  readonly #sockets: ReadonlySet<Socket>;
  readonly #streams: Streams;
  readonly #packageNames: Set<string> | undefined;
  readonly #stopped = new AbortController();
  readonly #answering = new Set<Promise<unknown>>();

  /** Starts on 127.0.0.1. To restart a stopped participant, pass its port and ledger. */
  static async start(options: ParticipantOptions = {}): Promise<Participant> {
    const server = createServer();
    const sockets = new Set<Socket>();
    server.on("connection", (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    });
    server.listen(options.port ?? 0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return new Participant(server, sockets, address.port, options);
  }

  private constructor(server: Server, sockets: ReadonlySet<Socket>, port: number, options: ParticipantOptions) {
    const { ledger = new ScriptedLedger(), tokens, packageNames, parties, vetted = [], checkpointMs } = options;
    const { listLimit = 200 } = options;
    this.ledger = ledger;
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.#server = server;
    this.#sockets = sockets;
    this.faults = new Faults(() => this.#streams.open);
    this.#packageNames = packageNames && new Set(packageNames);
    const known = { packageNames: this.#packageNames, parties: parties && new Set(parties) };
    const serving = { ledger, tokens, checkpointMs, vetted, unvetted: this.unvetted, ...known };
    this.#streams = new Streams(serving, this.faults);
    server.on("request", (request, response) => this.#track(this.#answer(request, response, serving, listLimit)));
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
    const { method = "GET", url = "/", headers } = request;
    const path = new URL(url, "http://127.0.0.1").pathname;
    const protocols = protocolsOf(headers["sec-websocket-protocol"]);
    const logged = { method, path, token: tokenOf(request), protocols, body: undefined, status: undefined };
    this.requests.push(logged);
    return logged;
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    serving: Serving,
    listLimit: number,
  ): Promise<void> {
    const logged = this.#log(request);
    const refused = this.faults.takeRefusal("http", logged.path);
    if (refused !== undefined) {
      logged.status = refuse(response, refused);
      return;
    }
    const callsFor = (body: JsonValue | undefined): Calls => {
      logged.body = body;
      checkToken(serving.tokens, logged.token);
      return new Calls(serving, logged.token);
    };
    const ledgerEndMs = () => this.faults.takeLedgerEndMs();
    const { signal: stopped } = this.#stopped;
    logged.status = await answer(request, response, callsFor, { listLimit, ledgerEndMs, stopped });
  }

  #track(work: Promise<unknown>): void {
    this.#answering.add(work);
    void work.catch(() => {}).finally(() => this.#answering.delete(work));
  }
}
