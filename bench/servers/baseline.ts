/** Baseline servers, which send prepared bytes: the lower bound for a service over the same stack. */
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { fastify } from "fastify";
import { frameMessage } from "../load/grpc.js";

export function startFastifyBaseline(bodies: readonly string[]): Promise<string> {
  const next = cycle(bodies.map((body) => Buffer.from(body, "base64")));
  const server = fastify();
  server.post("/*", (_request, reply) => reply.type("application/json").send(next()));
  return server.listen({ port: 0, host: "127.0.0.1" });
}

export async function startHttp2Baseline(messages: readonly string[]): Promise<string> {
  const next = cycle(messages.map((message) => frameMessage(Buffer.from(message, "base64"))));
  const server = http2.createServer();
  server.on("stream", (stream) => {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(next());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function cycle(list: readonly Buffer[]): () => Buffer {
  let index = 0;
  return () => list[index++ % list.length] ?? Buffer.alloc(0);
}
