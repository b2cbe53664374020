/** A participant that only repeats: an HTTP and WebSocket server on 127.0.0.1, until the test ends. */
import { createServer } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { type WebSocket, WebSocketServer } from "ws";
import type { JsonValue } from "../../src/util/json.js";
import { listening, seen } from "../ledger/participant/servers.js";
import type { HttpExchange, ParticipantRecording, StreamExchange } from "./recordings.js";

interface ReplayRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Null if the request has no body. */
  readonly body: JsonValue;
}

export type HttpAnswer = Pick<HttpExchange, "status" | "contentType" | "response">;

/** Without `close` the stream stays open. */
type StreamAnswer = Pick<StreamExchange, "messages"> & Partial<Pick<StreamExchange, "close">>;

/** Undefined for a request that the recording does not answer. */
export interface Answers {
  http(request: ReplayRequest): HttpAnswer | undefined;
  stream(request: ReplayRequest): StreamAnswer | undefined;
}

interface Replay {
  readonly url: URL;
  /** Requests without an answer. A client sends none if its requests are those of the recording. */
  readonly unanswered: readonly ReplayRequest[];
  /** The subprotocols that each stream offered. */
  readonly offered: readonly (readonly string[])[];
}

const ABNORMAL_CLOSE = 1006;

/** Starts a server with these answers. It selects the subprotocol that the recorded participant selected. */
export async function replay(answers: Answers): Promise<Replay> {
  const unanswered: ReplayRequest[] = [];
  const offered: string[][] = [];
  const server = createServer((request, response) => {
    void seen(request).then(({ method = "", path = "", body }) => {
      const asked = { method, path, body: body === "" ? null : (JSON.parse(body) as JsonValue) };
      const answer = answers.http(asked);
      if (answer === undefined) unanswered.push(asked);
      const { status, contentType, response: content } = answer ?? NO_ANSWER;
      response.writeHead(status, { "content-type": contentType });
      response.end(typeof content === "string" ? content : JSON.stringify(content));
    });
  });
  const sockets = new WebSocketServer({ server, handleProtocols: () => "daml.ws.auth" });
  sockets.on("connection", (socket, { url = "", headers }) => {
    offered.push((headers["sec-websocket-protocol"] ?? "").split(/, */));
    socket.on("error", () => {});
    socket.once("message", (data: Buffer) => {
      const asked = { method: "GET", path: url, body: JSON.parse(data.toString()) as JsonValue };
      const answer = answers.stream(asked);
      if (answer === undefined) unanswered.push(asked);
      void send(socket, answer ?? { messages: [], close: { code: 1011, reason: "" } });
    });
  });
  const url = await listening(server);
  return { url, unanswered, offered };
}

const NO_ANSWER: HttpAnswer = { status: 501, contentType: "text/plain", response: "not recorded" };

async function send(socket: WebSocket, { messages, close }: StreamAnswer): Promise<void> {
  for (const message of messages)
    await new Promise<void>((resolve) => {
      socket.send(JSON.stringify(message), () => resolve());
    });
  if (close?.code === ABNORMAL_CLOSE) socket.terminate();
  else if (close !== undefined) socket.close(close.code, close.reason);
}

/** Answers a request that equals a recorded one in method, path and body. */
export const asRecorded = ({ http, ws }: ParticipantRecording): Answers => ({
  http: ({ method, path, body }) =>
    http.find((each) => each.method === method && each.path === path && isDeepStrictEqual(each.request, body)),
  stream: ({ path, body }) => ws.find((each) => each.path === path && isDeepStrictEqual(each.request, body)),
});
