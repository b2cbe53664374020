/** Servers on 127.0.0.1 and files that end with the test, and endpoints. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { onTestFinished } from "vitest";
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws";
import { LedgerError } from "../../../src/ledger/participant/errors.js";
import type { Endpoint } from "../../../src/ledger/participant/http.js";

/** A generous bound for anything that is not blocked. */
export const SOON_MS = 20_000;

/** What a client sent. */
export interface Seen {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export async function seen(request: IncomingMessage): Promise<Seen> {
  const { method, url: path, headers } = request;
  return { method, path, headers, body: await text(request) };
}

/** The base URL of a server. The server and its connections are closed when the test ends. */
export async function listening(server: Server, protocol = "http"): Promise<URL> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return new URL(`${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** An HTTP server. A failing listener cuts the connection. */
export function serving(listener: (...of: Parameters<RequestListener>) => void | Promise<void>): Promise<URL> {
  const server = createServer((request, response) => {
    void (async () => {
      try {
        await listener(request, response);
      } catch (error) {
        response.destroy(error instanceof Error ? error : undefined);
      }
    })();
  });
  return listening(server);
}

/** A server that accepts WebSockets on every path, and selects the subprotocol of a participant. */
export async function streaming(
  connected: (socket: WebSocket, request: IncomingMessage) => void,
  options: ServerOptions = {},
  server: Server = createServer(),
): Promise<URL> {
  const sockets = new WebSocketServer({ handleProtocols: () => "daml.ws.auth", ...options, server });
  sockets.on("connection", (socket, request) => {
    socket.on("error", () => {});
    connected(socket, request);
  });
  return listening(server, server instanceof TlsServer ? "https" : "http");
}

/** A base URL with a closed port. */
export async function closedPort(): Promise<URL> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return new URL(`http://127.0.0.1:${port}`);
}

export function endpointAt(url: URL, more: Partial<Endpoint> = {}): Endpoint {
  return { url, ca: undefined, token: () => Promise.resolve(undefined), signal: new AbortController().signal, ...more };
}

/** An error of the JSON Ledger API. */
export const errorOf = (code: string, errorCategory: number, more: object = {}): string =>
  JSON.stringify({ code, cause: "because", context: {}, errorCategory, ...more });

/** The LedgerError of a promise. Fails for any other outcome. */
export async function failureOf(promise: Promise<unknown>): Promise<LedgerError> {
  let reason: unknown;
  try {
    const given = await promise;
    reason = `it gave ${JSON.stringify(given)}`;
  } catch (error) {
    if (error instanceof LedgerError) return error;
    reason = error;
  }
  throw new Error(`it did not fail with a LedgerError: ${String(reason)}`, { cause: reason });
}

/** All text of an error that could be logged. */
export const everythingOf = (error: unknown): string => inspect(error, { depth: 10, showHidden: true });

/** A server that answers with 160 MiB, how much of it was sent, and whether the client has closed the connection. */
export async function endless() {
  const chunk = Buffer.alloc(1024 * 1024, " ");
  let sent = 0;
  let isClosed = false;
  const url = await serving((_request, response) => {
    const more = () => {
      sent += chunk.length;
      if (sent < 160 * chunk.length) response.write(chunk, more);
    };
    response.on("close", () => void (isClosed = true)).on("error", () => {});
    more();
  });
  return { url, sent: () => sent, isClosed: () => isClosed };
}

/** The path of a new file; it does not exist yet without a content. */
export async function temporaryFile(content?: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "offledger-tokens-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "file");
  if (content !== undefined) await writeFile(path, content);
  return path;
}
