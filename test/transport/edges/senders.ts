/** Raw requests to one operation, over each protocol and on both paths of the server, and their outcomes. */
import http from "node:http";
import http2 from "node:http2";
import { within } from "../../fixtures/wait.js";

const WAIT_MS = 25_000;

export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  /** Sends the body in chunks, without a content-length. HTTP/1.1 only. */
  readonly isChunked?: boolean;
}

type Fields = Readonly<Record<string, string | string[] | number | undefined>>;

export interface RawResponse {
  readonly status: number;
  /** Headers and trailers. */
  readonly fields: Fields;
  readonly body: Buffer;
}

/** A connection of each HTTP version to one server. */
export class Client {
  readonly #url: URL;
  readonly #agent = new http.Agent({ keepAlive: true });
  readonly #session: http2.ClientHttp2Session;

  constructor(url: string) {
    this.#url = new URL(url);
    this.#session = http2.connect(url);
  }

  close(): void {
    this.#agent.destroy();
    this.#session.close();
  }

  http1({ method = "POST", path, headers = {}, body, isChunked = false }: RawRequest): Promise<RawResponse> {
    const { hostname, port } = this.#url;
    const length = body === undefined || isChunked ? {} : { "content-length": body.length };
    const received = new Promise<RawResponse>((resolve, reject) => {
      const options = { hostname, port, path, method, agent: this.#agent, headers: { ...headers, ...length } };
      const request = http.request(options, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
        response.on("end", () => {
          const fields = { ...response.headers, ...response.trailers };
          resolve({ status: response.statusCode ?? 0, fields, body: Buffer.concat(chunks) });
        });
      });
      request.on("error", reject);
      // The head leaves first, so that the body gets chunks of its own.
      if (isChunked) request.flushHeaders();
      request.end(body);
    });
    return within(WAIT_MS, `${method} ${path.slice(0, 80)} has a response`, received);
  }

  http2({ method = "POST", path, headers = {}, body }: RawRequest): Promise<RawResponse> {
    const length = body === undefined ? {} : { "content-length": body.length };
    const head = { ":method": method, ":path": path, ...headers, ...length };
    const received = new Promise<RawResponse>((resolve, reject) => {
      const stream = this.#session.request(head, { endStream: body === undefined });
      const chunks: Buffer[] = [];
      let fields: Fields = {};
      const add = (more: Fields) => (fields = { ...fields, ...more });
      stream.on("response", add).on("trailers", add).on("error", reject);
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("close", () => resolve({ status: Number(fields[":status"]), fields, body: Buffer.concat(chunks) }));
      if (body !== undefined) stream.end(body);
    });
    return within(WAIT_MS, `${method} ${path.slice(0, 80)} over HTTP/2 has a response`, received);
  }
}

/** The codes that the tests expect, by their numbers in gRPC. */
const codes: Readonly<Record<string, string>> = {
  "0": "ok",
  "3": "invalid_argument",
  "5": "not_found",
  "8": "resource_exhausted",
  "12": "unimplemented",
  "13": "internal",
};
/** The codes that the tests expect, by the statuses of REST and Connect. */
const statuses: Readonly<Record<number, string>> = { 200: "ok", 400: "invalid_argument", 404: "not_found" };

/** A code, or the HTTP status where the protocol answers with a status of its own: 405, 415. */
export function outcomeOf({ status, fields, body }: RawResponse): string {
  if (status !== 200) {
    const { code } = JSON.parse(body.toString()) as { readonly code?: string };
    const byStatus = statuses[status];
    if (byStatus !== undefined && code !== undefined && code !== byStatus) return `status ${status} with code ${code}`;
    return byStatus ?? String(status);
  }
  if (!String(fields["content-type"]).startsWith("application/grpc")) return "ok";
  // gRPC-Web sends its trailers in the body.
  const inBody = /grpc-status: ?(\d+)/.exec(body.toString("latin1"))?.[1];
  const { "grpc-status": grpcStatus = inBody } = fields;
  return codes[String(grpcStatus)] ?? `grpc-status ${String(grpcStatus)}`;
}

/** Sends a message in one way. `contentType` overrides the one of the protocol. */
export type Send = (client: Client, message: Buffer, contentType?: string) => Promise<RawResponse>;

/** Paths of one operation. */
export interface Target {
  readonly rest: string;
  readonly rpc: string;
}

export const frame = (message: Buffer, flags = 0): Buffer => {
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};

const connectDeadline = { "connect-timeout-ms": "60000" };

const json = (contentType = "application/json") => ({ "content-type": contentType });

/** REST, whose message has no fields of the path. */
export const overRest = ({ rest: path }: Target): Record<string, Send> => {
  return {
    "REST, fast path": (client, body, type) => client.http1({ path, headers: json(type), body }),
    "REST, chunked": (client, body, type) => client.http1({ path, headers: json(type), body, isChunked: true }),
    "REST over HTTP/2": (client, body, type) => client.http2({ path, headers: json(type), body }),
  };
};

/** The rpc protocols, on the short way and for JSON beside it. */
export const overRpc = ({ rpc: path }: Target, form: "json" | "proto"): Record<string, Send> => {
  const of = (base: string) => ({ "content-type": `${base}${form}` });
  const connect: Send = (client, body) => client.http1({ path, headers: of("application/"), body });
  if (form === "proto") {
    return {
      Connect: connect,
      gRPC: (client, body) => client.http2({ path, headers: of("application/grpc+"), body: frame(body) }),
    };
  }
  return {
    Connect: connect,
    "Connect with a deadline": (client, body) =>
      client.http1({ path, headers: { ...of("application/"), ...connectDeadline }, body }),
    "gRPC-Web": (client, body) => client.http1({ path, headers: of("application/grpc-web+"), body: frame(body) }),
  };
};
