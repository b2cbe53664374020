/** CPU per request of each protocol, next to baseline servers that send the same bytes, and to connect-node with its defaults. */
import { withResources } from "../processes/resources.js";
import { writeSnapshot } from "../registries/snapshot.js";
import { generateTransfers, OFFERS } from "../registries/transfers.js";
import type { Row } from "../report/row.js";
import { type Server, startServer } from "../servers/start.js";
import { compareCpu, type CpuCase } from "./cpu.js";
import { formatSizes, kilobytes, noteSizes } from "./sizes.js";
import { recordResponses, type Workload, workloads } from "./workloads.js";

const titles = {
  baselineAccept: "baseline: bare Fastify, transfer accept",
  baselineTransfer: "baseline: bare Fastify, transfer-factory",
  baselineGrpc: "baseline: bare node:http2, transfer accept",
  accept: "REST, transfer accept",
  acceptGzip: "REST, transfer accept, gzip",
  transfer: "REST, transfer-factory",
  json: "Connect JSON",
  binary: "Connect binary",
  acceptWithHttp2: "REST, transfer accept, with HTTP/2 clients",
  grpc: "gRPC",
} as const;

export async function measureProtocols(): Promise<Row[]> {
  return withResources(async (keep) => {
    const { settings, path } = await keep(writeSnapshot(generateTransfers(OFFERS)));
    // V8's code for streams slows down HTTP/1.1 in a process that also serves HTTP/2. So each baseline is compared with a
    // process that serves the same protocol alone, and a row of its own shows the difference.
    const own = await keep(startServer({ server: "offledger", settings }));
    const ownWithHttp2 = await keep(startServer({ server: "offledger", settings }));
    const accept = workloads.restAccept();
    const acceptGzip = workloads.restAcceptGzip();
    const transfer = workloads.restTransfer();
    const json = workloads.connectJson();
    const binary = workloads.connectBinary();
    const grpc = workloads.grpc();
    const startBaseline = async (title: string, workload: Workload): Promise<CpuCase> => {
      const bodies = await recordResponses(own.url, workload);
      const server = await keep(startServer({ server: "fastify", bodies }));
      return { title, server, load: workload.load, note: `CPU per request; ${describeSizes(workload, bodies)}` };
    };
    const baselineAccept = await startBaseline(titles.baselineAccept, accept);
    const baselineTransfer = await startBaseline(titles.baselineTransfer, transfer);
    const messages = await recordResponses(own.url, grpc);
    const baselineGrpc = await keep(startServer({ server: "http2", messages }));
    const connectNode = await keep(startServer({ server: "connect-node", snapshot: path, version: 1 }));
    const connectNodeGrpc = await keep(startServer({ server: "connect-node", snapshot: path, version: 2 }));
    const rows = await compareCpu([
      baselineAccept,
      ownCase(titles.accept, own, accept, titles.baselineAccept, 0.6),
      ownCase(titles.acceptGzip, own, acceptGzip, titles.accept),
      ownCase(titles.json, own, json, titles.baselineAccept, 0.5),
      ownCase(titles.binary, own, binary, titles.baselineAccept, 0.5),
      ownCase(titles.acceptWithHttp2, ownWithHttp2, accept, titles.baselineAccept),
      baselineTransfer,
      ownCase(titles.transfer, own, transfer, titles.baselineTransfer, 0.6),
      { title: titles.baselineGrpc, server: baselineGrpc, load: grpc.load },
      ownCase(titles.grpc, ownWithHttp2, grpc, titles.baselineGrpc, 0.3),
      connectNodeCase(titles.json, connectNode, json),
      connectNodeCase(titles.binary, connectNode, binary),
      connectNodeCase(titles.grpc, connectNodeGrpc, grpc),
    ]);
    return noteSizes(rows, titles.acceptGzip, own.url, accept, acceptGzip);
  });
}

const describeSizes = ({ requests: [request] }: Workload, bodies: readonly string[]): string =>
  `requests of ${kilobytes(request?.length ?? 0)} KB, responses of ${formatSizes(bodies)}`;

function ownCase(title: string, server: Server, { load }: Workload, baseline: string, atLeast?: number): CpuCase {
  const target = atLeast === undefined ? undefined : { atLeast };
  return { title, server, load, ratio: { of: baseline, over: title, target } };
}

function connectNodeCase(ownTitle: string, server: Server, { load }: Workload): CpuCase {
  const title = `connect-node defaults: ${ownTitle}`;
  const ratio: CpuCase["ratio"] = { of: title, over: ownTitle, target: { atLeast: 3 } };
  return { title, server, load, ratio, note: "CPU per request; ratio over ours" };
}
