/** WebSocket streams: accepts them, tracks the open ones, and applies their faults. */
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { type WebSocket, WebSocketServer } from "ws";
import { Calls, type Serving } from "./calls.js";
import { Refusal, refusal, withNulls } from "./errors.js";
import type { Ending, Faults, StreamFaults, StreamPath } from "./faults.js";
import { noSuchPage, pageOf } from "./http.js";
import type { LoggedRequest } from "./participant.js";
import { parse } from "./requests.js";
import { type Sink, streamActiveContracts, streamUpdates } from "./stream-content.js";
import { AUTH_PROTOCOL, checkToken, checkUser } from "./tokens.js";

const handleProtocols = (offered: Set<string>) => offered.has(AUTH_PROTOCOL) && AUTH_PROTOCOL;
const paths: readonly StreamPath[] = ["/v2/state/active-contracts", "/v2/updates"];

/** A real participant resets a WebSocket on which neither side has sent for so long. */
const SILENCE_MS = 60_000;

export class Streams {
  readonly open = new Set<Stream>();
  readonly serving = new Set<Promise<void>>();
  readonly #serving: Serving;
  readonly #faults: Faults;
  readonly #webSockets: WebSocketServer;
  readonly #unlisten: readonly (() => void)[];

  constructor(serving: Serving, faults: Faults) {
    this.#serving = serving;
    this.#faults = faults;
    this.#webSockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, handleProtocols });
    // Canton selects its subprotocol even if the client has not offered it, which makes such a client fail.
    this.#webSockets.on("headers", (headers) => {
      const header = `Sec-WebSocket-Protocol: ${AUTH_PROTOCOL}`;
      if (!headers.includes(header)) headers.push(header);
    });
    const cutAll = (): void => {
      for (const stream of this.open) stream.cut();
    };
    this.#unlisten = [
      serving.ledger.log.listen(() => {}, cutAll),
      serving.tokens?.listen((token) => this.#revoked(token)) ?? (() => {}),
    ];
  }

  upgrade(request: IncomingMessage, socket: Socket, head: Buffer, logged: LoggedRequest): void {
    const refused = this.#faults.takeRefusal("websocket", logged.path);
    const path = paths.find((known) => known === logged.path);
    try {
      if (refused === "no answer") return;
      if (refused === "hang up") return void socket.destroy();
      if (refused !== undefined && "page" in refused)
        return this.#refuse(socket, logged, refused.page, pageOf(refused.page));
      if (refused !== undefined) throw refused.refusal;
      checkUser(this.#serving.tokens, logged.token);
      if (path === undefined) {
        const body = JSON.stringify(noSuchPage(`ws://${request.headers.host}${request.url}`, request.method));
        return this.#refuse(socket, logged, 404, body, "application/json");
      }
      logged.status = 101;
      this.#webSockets.handleUpgrade(request, socket, head, (webSocket) =>
        this.#opened(path, webSocket, socket, logged),
      );
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#refuse(socket, logged, error.status, JSON.stringify(withNulls(error.error)), "application/json");
    }
  }

  close(): void {
    for (const stream of this.open) stream.finish(undefined, 1001);
  }

  stop(): void {
    for (const unlisten of this.#unlisten) unlisten();
    for (const stream of this.open) stream.cut();
  }

  #opened(path: StreamPath, webSocket: WebSocket, socket: Socket, logged: LoggedRequest): void {
    const { token } = logged;
    const { tokens } = this.#serving;
    const expiresAt = tokens === undefined || token === undefined ? Infinity : tokens.endOf(token);
    const stream = new Stream(path, token, webSocket, socket, this.#faults.take(path), expiresAt);
    // Pings count as traffic, as on a real participant. The server sends none.
    socket.setTimeout(SILENCE_MS, () => socket.resetAndDestroy());
    this.open.add(stream);
    webSocket.on("close", () => this.open.delete(stream));
    // A stream has one request. Later messages are ignored.
    webSocket.once("message", (data: Buffer) => {
      const work = this.#serve(stream, data.toString(), logged).finally(() => this.serving.delete(work));
      this.serving.add(work);
    });
  }

  async #serve(stream: Stream, request: string, logged: LoggedRequest): Promise<void> {
    try {
      // Any other token opens the stream, which then says so.
      checkToken(this.#serving.tokens, logged.token);
      logged.body = parse(request);
      await stream.begin();
      const calls = new Calls(this.#serving, logged.token);
      const send = stream.path === "/v2/updates" ? streamUpdates : streamActiveContracts;
      await send(calls, stream, logged.body);
      stream.finish();
    } catch (error) {
      if (error instanceof Over) return;
      // On a stream a decoding error is an internal error too.
      stream.finish(error instanceof Refusal ? error : refusal("LEDGER_API_INTERNAL_ERROR", String(error)));
    }
  }

  #revoked(token: string): void {
    const refused = refusal("STALE_STREAM_AUTHORIZATION", "Stale stream authorization. Retry quickly.");
    for (const stream of this.open) if (stream.token === token) stream.finish(refused);
  }

  #refuse(socket: Socket, logged: LoggedRequest, status: number, body: string, type = "text/plain"): void {
    logged.status = status;
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
      `Content-Type: ${type}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Connection: close",
    ];
    socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  }
}

class Over extends Error {
  constructor() {
    super("the stream is over");
    this.name = "Over";
  }
}

/** Bound of the send buffer for a slow reader. */
const MAX_BUFFERED_BYTES = 1 << 20;

/** One stream with its faults. */
export class Stream implements Sink {
  readonly clock = () => performance.now();
  readonly path: StreamPath;
  readonly token: string | undefined;
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #faults: StreamFaults;
  readonly #expiresAt: number;
  readonly #over = new AbortController();
  #isSilent = false;

  /** `socket` is the WebSocket's, for faults below its protocol. The token expires at a time in milliseconds since 1970. */
  constructor(
    path: StreamPath,
    token: string | undefined,
    webSocket: WebSocket,
    socket: Socket,
    faults: StreamFaults,
    expiresAt: number,
  ) {
    this.#expiresAt = expiresAt;
    this.path = path;
    this.token = token;
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#faults = faults;
    webSocket.on("close", () => this.#over.abort()).on("error", () => this.#over.abort());
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** How many updates from before the begin offset to repeat. */
  get duplicates(): number {
    return this.#faults.duplicates ?? 0;
  }

  /** Adds faults, which may apply at once. */
  meet(faults: StreamFaults): void {
    Object.assign(this.#faults, faults);
    const { ending } = this.#faults;
    // A concurrent send notices that the stream has ended.
    if (ending?.after === 0) void this.#end(ending.ending);
  }

  /** Call before the first message. Throws if a fault ends the stream before it. */
  async begin(): Promise<void> {
    const { ending } = this.#faults;
    if (ending?.after === 0) await this.#end(ending.ending);
    this.#check();
  }

  /** Sends a message. Throws if the stream has ended, or ends after it. */
  async send(message: object): Promise<void> {
    const { delayMs = 0 } = this.#faults;
    if (delayMs > 0) await pause(delayMs, undefined, { signal: this.over }).catch(() => {});
    this.#check();
    // A participant looks at the expiry when it has something to send.
    if (this.#expiresAt <= Date.now()) this.finish(refusal("ACCESS_TOKEN_EXPIRED", "Claims are not valid any more"));
    this.#check();
    const { ending, halved } = this.#faults;
    const text = JSON.stringify(message);
    const isHalved = halved !== undefined && halved.after-- === 0;
    this.#webSocket.send(isHalved ? text.slice(0, text.length / 2) : text);
    if (this.#webSocket.bufferedAmount > MAX_BUFFERED_BYTES) await this.#flushed();
    if (ending !== undefined && --ending.after === 0) {
      await this.#flushed();
      await this.#end(ending.ending);
    }
    this.#check();
  }

  /** Closes normally. An error is sent as the last message. */
  finish(error?: Refusal, code = 1000): void {
    if (this.over.aborted || this.#isSilent) return;
    if (error !== undefined) this.#webSocket.send(JSON.stringify(withNulls(error.error)));
    this.#webSocket.close(code);
    this.#over.abort();
  }

  cut(): void {
    this.#over.abort();
    this.#socket.destroy();
  }

  #check(): void {
    if (this.over.aborted || this.#isSilent) throw new Over();
  }

  async #end(ending: Ending): Promise<void> {
    switch (ending.type) {
      case "cut":
        return this.cut();
      case "reset":
        this.#over.abort();
        this.#socket.resetAndDestroy();
        return;
      case "half frame":
        this.#socket.write(halfFrame);
        await this.#flushed();
        return this.cut();
      case "error":
        return this.finish(ending.refusal);
      case "close":
        return this.finish(undefined, ending.code);
      case "silence":
        this.#isSilent = true;
        if (!ending.answersPings) this.#webSocket.pause();
    }
  }

  async #flushed(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.write("", () => resolve()));
  }
}

/** The header of a text frame of 512 bytes, and its first bytes. */
const halfFrame = Buffer.concat([
  Buffer.from([0x81, 126, 0x02, 0x00]),
  Buffer.from('{"update":{"Transaction":{"value":{"updateId":"1220'),
]);
