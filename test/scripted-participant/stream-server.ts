/** Accepts WebSocket streams, and tracks the open ones. */
import type { IncomingMessage } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { AUTH_PROTOCOL, checkToken, checkUser } from "./authentication.js";
import { Calls, type Serving } from "./calls.js";
import { Refusal, refusal, withNulls } from "./errors.js";
import type { Faults } from "./faults.js";
import { noSuchPage, pageOf } from "./http.js";
import type { LoggedRequest } from "./request-log.js";
import { parse } from "./json-decoding.js";
import { streamActiveContracts, streamUpdates } from "./stream-content.js";
import { Over, Stream } from "./stream.js";
import type { StreamPath } from "./stream-faults.js";

const handleProtocols = (offered: Set<string>) => offered.has(AUTH_PROTOCOL) && AUTH_PROTOCOL;
const paths: readonly StreamPath[] = ["/v2/state/active-contracts", "/v2/updates"];

export class Streams {
  readonly open = new Set<Stream>();
  readonly serving = new Set<Promise<void>>();
  readonly #serving: Serving;
  readonly #faults: Faults;
  readonly #silenceMs: number;
  readonly #webSockets: WebSocketServer;
  readonly #unlisten: readonly (() => void)[];

  constructor(serving: Serving, faults: Faults, silenceMs: number) {
    this.#serving = serving;
    this.#faults = faults;
    this.#silenceMs = silenceMs;
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
    const stream = new Stream(
      path,
      logged.token,
      webSocket,
      socket,
      this.#faults.take(path),
      this.#endOf(logged.token),
    );
    // Pings count as traffic, as on a real participant. The server sends none.
    socket.setTimeout(this.#silenceMs, () => socket.resetAndDestroy());
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

  /** When the token ends, in milliseconds since 1970. Revoked and unknown tokens are refused otherwise. */
  #endOf(token: string | undefined): number {
    const { tokens } = this.#serving;
    return tokens === undefined || token === undefined ? Infinity : tokens.endOf(token);
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
