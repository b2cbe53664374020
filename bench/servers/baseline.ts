/** Servers that do nothing but send bytes: what no service over the same stack can beat. */
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { fastify } from "fastify";

/** Parses the JSON it gets, and sends the answers in turn. */
export function startFastify(answers: readonly string[]): Promise<string> {
  const next = inTurn(answers.map((answer) => Buffer.from(answer, "base64")));
  const server = fastify();
  server.post("/*", (_request, reply) => reply.type("application/json").send(next()));
  return server.listen({ port: 0, host: "127.0.0.1" });
}

/** Takes a gRPC message, and sends the answers in turn. */
export async function startHttp2(answers: readonly string[]): Promise<string> {
  const next = inTurn(answers.map((answer) => framed(Buffer.from(answer, "base64"))));
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

function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function inTurn(answers: readonly Buffer[]): () => Buffer {
  let index = 0;
  return () => answers[index++ % answers.length] ?? Buffer.alloc(0);
}
