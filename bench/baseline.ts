/** A bare server in its own process, which answers with prepared bytes: the least that the same stack costs. */
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { fromBinary } from "@bufbuild/protobuf";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { fastify } from "fastify";
import { TransferInstructionService } from "../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { serve } from "./processes.js";

export interface Baseline {
  readonly server: "Fastify" | "connect-node";
  readonly httpVersion: 1 | 2;
  /** The bodies that it answers in turn; for connect-node the encoded messages. */
  readonly bodies: readonly Uint8Array[];
}

serve(async (options: Baseline) => ({
  url: await (options.server === "Fastify" ? startFastify(options) : startConnect(options)),
  answer() {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
}));

function cycle<T>(list: readonly T[]): () => T {
  let index = 0;
  return () => list[index++ % list.length] as T;
}

function startFastify({ bodies }: Baseline): Promise<string> {
  const next = cycle(bodies);
  const server = fastify();
  server.post("/*", (_request, reply) => reply.type("application/json").send(next()));
  return server.listen({ port: 0, host: "127.0.0.1" });
}

async function startConnect({ httpVersion, bodies }: Baseline): Promise<string> {
  const method = TransferInstructionService.method.getTransferInstructionAcceptContext;
  const next = cycle(bodies.map((body) => fromBinary(method.output, body)));
  const handler = connectNodeAdapter({ routes: (router) => router.rpc(method, next) });
  const server = httpVersion === 1 ? http.createServer(handler) : http2.createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
