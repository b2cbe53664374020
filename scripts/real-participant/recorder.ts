/** A proxy that keeps what a client asks a participant or a service, and what comes: for recordings that tests replay. */
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { JsonValue } from "../../src/util/json.js";

export interface Exchange {
  /** Whom it was sent to. */
  readonly to: string;
  readonly method: string;
  readonly path: string;
  /** Null for an upload too. */
  readonly body: JsonValue;
  readonly status: number;
  readonly answer: JsonValue;
}

/** Returns the URL of the proxy for `target`, which runs as long as the process. */
export async function recordTo(keep: (exchange: Exchange) => void, to: string, target: string): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const bytes = Buffer.concat(chunks);
      const { method = "GET", url = "/" } = request;
      const isJson = request.headers["content-type"] === "application/json" && bytes.length > 0;
      const answered = await fetch(target + url, {
        method,
        headers: Object.fromEntries(
          ["content-type", "authorization"].flatMap((name) => {
            const value = request.headers[name];
            return typeof value === "string" ? [[name, value]] : [];
          }),
        ),
        ...(method === "POST" && { body: bytes }),
      });
      const text = await answered.text();
      const [body, answer] = [isJson ? bytes.toString() : "null", text === "" ? "null" : text].map(
        (json) => JSON.parse(json) as JsonValue,
      );
      keep({ to, method, path: url, body: body ?? null, status: answered.status, answer: answer ?? null });
      response.writeHead(answered.status, { "content-type": "application/json" }).end(text);
    })().catch((error: unknown) => response.writeHead(502).end(String(error)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
