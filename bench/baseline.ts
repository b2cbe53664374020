/** A bare server in its own process, which answers with prepared bytes: the least that the same stack costs. */
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { constants, gzipSync } from "node:zlib";
import { fastify } from "fastify";
import { serve } from "./processes.js";

export interface Baseline {
  readonly server: "Fastify" | "Fastify, gzipSync" | "node:http" | "node:http2";
  readonly type: string;
  /** The bodies that it answers in turn; for HTTP/2 the framed messages. */
  readonly bodies: readonly Uint8Array[];
}

serve(async (options: Baseline) => ({
  url: await start(options),
  answer() {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
}));

async function start({ server, type, bodies }: Baseline): Promise<string> {
  let index = 0;
  const next = () => bodies[index++ % bodies.length] as Uint8Array;
  if (server === "node:http") return listen(http.createServer((...call) => answerHttp1(...call, type, next())));
  if (server === "node:http2") return listen(http2.createServer().on("stream", (one) => answerGrpc(one, next())));
  const app = fastify();
  const parser = { parseAs: "buffer" } as const;
  app.addContentTypeParser("application/proto", parser, (_request, body, done) => done(null, body));
  app.post("/*", (_request, reply) => {
    if (server === "Fastify") return reply.type(type).send(next());
    return reply
      .type(type)
      .header("content-encoding", "gzip")
      .send(gzipSync(next(), { level: constants.Z_BEST_SPEED }));
  });
  return app.listen({ port: 0, host: "127.0.0.1" });
}

function answerHttp1(request: http.IncomingMessage, response: http.ServerResponse, type: string, body: Uint8Array) {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": type, "content-length": body.length }).end(body);
  });
}

function answerGrpc(stream: http2.ServerHttp2Stream, message: Uint8Array): void {
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.resume().on("end", () => {
    stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
    stream.end(message);
  });
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
