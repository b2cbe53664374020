/** Each protocol next to servers that do nothing but send the same bytes, and next to connect-node as it comes. */
import http2 from "node:http2";
import { loadGrpc, unary } from "../load/grpc.js";
import { loadHttp1 } from "../load/http1.js";
import { answersTo } from "../load/single-request.js";
import { snapshotOf } from "../registries/snapshot.js";
import { OFFERS, transfers } from "../registries/transfers.js";
import type { Row } from "../report/row.js";
import { type Server, start, stopping } from "../servers/start.js";
import { compare, type Line } from "./cpu.js";
import { connectBinary, connectJson, grpc, inTurn, restAccept, restTransfer, rpcPath } from "./requests.js";

const names = {
  bareAccept: "bare Fastify, bytes of an acceptance",
  bareTransfer: "bare Fastify, bytes of a transfer-factory",
  bareGrpc: "bare HTTP/2, bytes of an acceptance",
  accept: "REST, transfer accept",
  transfer: "REST, transfer-factory",
  json: "Connect JSON",
  binary: "Connect binary",
  acceptBesideGrpc: "REST, transfer accept, beside gRPC",
  grpc: "gRPC",
} as const;

export async function protocols(): Promise<Row[]> {
  return stopping(async (keep) => {
    const { settings, path } = await keep(snapshotOf(transfers(OFFERS)));
    // Each next to a server that speaks what it speaks: in a process that has HTTP/2 too, Node.js has both versions go
    // through the same code of its streams, which makes HTTP/1.1 dearer. A line of its own tells how much.
    const ours = await keep(start({ server: "offledger", settings }));
    const oursOfBoth = await keep(start({ server: "offledger", settings }));
    const asked = {
      accept: restAccept(),
      transfer: restTransfer(),
      json: connectJson(),
      binary: connectBinary(),
      grpc: grpc(),
    };
    const bare = async (what: string, requests: readonly Buffer[]): Promise<Line> => {
      const answers = await answersTo(ours.url, requests.slice(0, 2));
      const server = await keep(start({ server: "fastify", answers }));
      return { what, server, load: http1(requests), note: `of CPU; ${sizes(requests, answers)}` };
    };
    const bareAccept = await bare(names.bareAccept, asked.accept);
    const bareTransfer = await bare(names.bareTransfer, asked.transfer);
    const bareGrpc = await keep(start({ server: "http2", answers: await messagesOf(ours.url, asked.grpc) }));
    const stock = await keep(start({ server: "stock", snapshot: path, version: 1 }));
    const stockGrpc = await keep(start({ server: "stock", snapshot: path, version: 2 }));

    const loadingGrpc: Line["load"] = (url, seconds) => loadGrpc(url, seconds, rpcPath, inTurn(asked.grpc));
    return compare([
      bareAccept,
      line(names.accept, ours, http1(asked.accept), names.bareAccept, 0.7),
      line(names.json, ours, http1(asked.json), names.bareAccept, 0.6),
      line(names.binary, ours, http1(asked.binary), names.bareAccept, 0.6),
      line(names.acceptBesideGrpc, oursOfBoth, http1(asked.accept), names.bareAccept),
      bareTransfer,
      line(names.transfer, ours, http1(asked.transfer), names.bareTransfer, 0.7),
      { what: names.bareGrpc, server: bareGrpc, load: loadingGrpc },
      line(names.grpc, oursOfBoth, loadingGrpc, names.bareGrpc, 0.55),
      stockLine(names.json, stock, http1(asked.json)),
      stockLine(names.binary, stock, http1(asked.binary)),
      stockLine(names.grpc, stockGrpc, loadingGrpc),
    ]);
  });
}

function http1(requests: readonly Buffer[]): Line["load"] {
  const requestOf = inTurn(requests);
  return (url, seconds) => loadHttp1(url, seconds, requestOf);
}

const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(1);

/** How long requests and answers are, with debug fields and without. */
function sizes([request]: readonly Buffer[], answers: readonly string[]): string {
  const [debug = 0, plain = 0] = answers.map((answer) => Buffer.byteLength(answer, "base64"));
  return `requests of ${kilobytes(request?.length ?? 0)} KB, answers of ${kilobytes(debug)} and ${kilobytes(plain)} KB`;
}

/** What ours costs; the ratio is what the bare server costs over that. Without `atLeast` it is only told. */
function line(what: string, server: Server, load: Line["load"], of: string, atLeast?: number): Line {
  const wanted = atLeast === undefined ? undefined : { atLeast };
  return { what, server, load, ratio: { of, over: what, wanted } };
}

/** The same by way of connect-node as it comes; the ratio is what that costs over what ours does. */
function stockLine(ours: string, server: Server, load: Line["load"]): Line {
  const what = `${ours} by connect-node`;
  return { what, server, load, ratio: { of: what, over: ours, wanted: { atLeast: 5 } }, note: "of CPU; over ours" };
}

/** The messages that two requests are answered with, in base64. */
async function messagesOf(url: string, requests: readonly Buffer[]): Promise<string[]> {
  const session = http2.connect(url);
  try {
    const messages = await Promise.all(requests.slice(0, 2).map((request) => unary(session, rpcPath, request)));
    return messages.map((message) => message.toString("base64"));
  } finally {
    session.destroy();
  }
}
