/** One server in a process of its own, which tells the CPU time it has used when it is asked. */
import { writeFileSync } from "node:fs";
import http2 from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fastify } from "fastify";
import { startApp } from "../../src/app.js";
import { readConfig } from "../../src/config/config.js";
import { elements } from "./registry.js";

export type Target =
  | { readonly server: "offledger"; readonly offers: number }
  /** Bare Fastify: parses the JSON it gets and sends these bytes. */
  | { readonly server: "fastify"; readonly answer: string }
  /** Bare HTTP/2: takes a gRPC message and sends these bytes as one. */
  | { readonly server: "http2"; readonly answer: string };

const target = JSON.parse(process.argv[2] ?? "") as Target;
const url = await start(target);
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system, rss: process.memoryUsage().rss });
});
process.send?.({ url });

async function start(wanted: Target): Promise<string> {
  switch (wanted.server) {
    case "offledger": {
      const path = join(tmpdir(), `offledger-bench-${process.pid}.ndjson`);
      writeFileSync(path, [...elements(wanted.offers)].map((element) => `${JSON.stringify(element)}\n`).join(""));
      const read = readConfig(["--port", "0", "--snapshot", path, "--log-level", "error"], {});
      if (!read.ok) throw new Error(read.wrong.join("\n"));
      return (await startApp(read.config)).url;
    }
    case "fastify": {
      const answer = Buffer.from(wanted.answer, "base64");
      const server = fastify();
      server.post("/*", (_request, reply) => reply.type("application/json").send(answer));
      return server.listen({ port: 0, host: "127.0.0.1" });
    }
    case "http2": {
      const message = Buffer.from(wanted.answer, "base64");
      const framed = Buffer.concat([Buffer.alloc(5), message]);
      framed.writeUInt32BE(message.length, 1);
      const server = http2.createServer();
      server.on("stream", (stream) => {
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("end", () => {
          stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
          stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
          stream.end(framed);
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    }
  }
}
