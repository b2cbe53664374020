/** One request by the clients of Node.js: its status and its request id, also of a response that never ends. */
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { text } from "node:stream/consumers";
import { within } from "../../fixtures/wait.js";

export interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The response does not end: the client leaves when it has the headers. */
  readonly isEndless?: boolean;
  /** The request does not end. Over HTTP/2 only. */
  readonly isUnfinished?: boolean;
  /** The request has no `Host`. */
  readonly hasNoHost?: boolean;
}

export interface Received {
  /** The status of HTTP; of gRPC in a header the one of gRPC, such as "grpc 5". */
  readonly status: string;
  /** The `x-request-id` of the response. */
  readonly id: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
}

export type Exchange = (url: string, sent: Sent) => Promise<Received>;

const WAIT_MS = 25_000;

const received = (status: number | undefined, headers: Readonly<Record<string, unknown>>): Received => ({
  status: typeof headers["grpc-status"] === "string" ? `grpc ${headers["grpc-status"]}` : String(status),
  id: headers["x-request-id"],
  headers,
});

export const overHttp1: Exchange = async (
  url,
  { path, headers = {}, body, isEndless = false, hasNoHost = false, method = body === undefined ? "GET" : "POST" },
) => {
  const { hostname, port } = new URL(url);
  const options = { hostname, port, path, method, headers, agent: false, setHost: !hasNoHost };
  const request = http.request(options);
  // The service may close the connection of a body that it does not want.
  request.on("error", () => {});
  request.end(body);
  const [response] = (await within(WAIT_MS, `a response to ${path.slice(0, 80)}`, once(request, "response"))) as [
    http.IncomingMessage,
  ];
  if (isEndless) request.destroy();
  else {
    response.on("error", () => {});
    await within(WAIT_MS, `the end of ${path.slice(0, 80)}`, once(response.resume(), "close"));
  }
  return received(response.statusCode, response.headers);
};

export const overHttp2: Exchange = async (
  url,
  { path, headers = {}, body, isEndless = false, isUnfinished = false, method = body === undefined ? "GET" : "POST" },
) => {
  const session = http2.connect(url).on("error", () => {});
  try {
    const target = method === "CONNECT" ? { ":authority": "a:1" } : { ":path": path };
    const stream = session.request({ ":method": method, ...target, ...headers }, { endStream: false });
    stream.on("error", () => {});
    if (isUnfinished) stream.write(body ?? "");
    else stream.end(body);
    const response = once(stream, "response") as Promise<[http2.IncomingHttpHeaders & { ":status"?: number }]>;
    const [head] = await within(WAIT_MS, `a response to ${path.slice(0, 80)}`, response);
    if (!isEndless && !stream.closed)
      await within(WAIT_MS, `the end of ${path.slice(0, 80)}`, once(stream.resume(), "close"));
    return received(head[":status"], head);
  } finally {
    session.destroy();
  }
};

/** Sends bytes over HTTP/1.1, and returns all that comes until the service closes the connection. */
export async function overSocket(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  socket.write(bytes, "latin1");
  try {
    return await within(WAIT_MS, "the service closes the connection", text(socket));
  } finally {
    socket.destroy();
  }
}

/** Connections that stay as they are after these bytes. The first part of a response to each has arrived, unless it is not awaited. */
export async function occupy(url: string, count: number, bytes: string, isAnswered: boolean): Promise<() => void> {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: count }, () => net.connect(Number(port), hostname));
  for (const socket of sockets) socket.on("error", () => {}).write(bytes);
  await Promise.all(
    sockets.map((socket) => within(WAIT_MS, "it is connected", once(socket, isAnswered ? "data" : "connect"))),
  );
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}
