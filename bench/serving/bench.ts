/** What an answer costs the server, next to servers that do nothing but send the same bytes. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { median, type Row } from "../report.js";
import { type Load, loadHttp1 } from "./http1.js";
import { loadGrpc } from "./http2.js";
import { OFFERS } from "./registry.js";
import { acceptPath, contextBody, requests, rpcPath } from "./requests.js";
import type { Target } from "./server.js";

const CONNECTIONS = 50;
const ROUNDS = 5;
const WARM_SECONDS = 3;
const SECONDS = 1.5;

interface Serving {
  readonly url: string;
  /** CPU time that the process has used, in microseconds. */
  cpu(): Promise<number>;
  stop(): void;
}

/** A path, with the path that it is compared with. */
interface Line {
  readonly what: string;
  readonly server: "ours" | "fastify" | "http2";
  readonly load: (url: string, seconds: number) => Promise<Load>;
  readonly against?: string;
}

const http1 = (list: readonly Buffer[]) => (url: string, seconds: number) =>
  loadHttp1(url, CONNECTIONS, seconds, (index) => at(list, index));
const grpc =
  (more = {}) =>
  (url: string, seconds: number) =>
    loadGrpc(url, CONNECTIONS, seconds, rpcPath, (index) => at(requests.grpc, index), more);

const FASTIFY = "bare Fastify";
const HTTP2 = "bare HTTP/2";
const lines: readonly Line[] = [
  { what: FASTIFY, server: "fastify", load: http1(requests.restAccept) },
  { what: HTTP2, server: "http2", load: grpc() },
  { what: "REST, transfer accept", server: "ours", load: http1(requests.restAccept), against: FASTIFY },
  { what: "REST, transfer-factory", server: "ours", load: http1(requests.restTransfer), against: FASTIFY },
  { what: "Connect JSON", server: "ours", load: http1(requests.connectJson), against: FASTIFY },
  { what: "Connect binary", server: "ours", load: http1(requests.connectBinary), against: FASTIFY },
  { what: "gRPC", server: "ours", load: grpc(), against: HTTP2 },
  { what: "Connect JSON by connect-es", server: "ours", load: http1(requests.connectJsonStock), against: FASTIFY },
  { what: "Connect binary by connect-es", server: "ours", load: http1(requests.connectBinaryStock), against: FASTIFY },
  { what: "gRPC by connect-es", server: "ours", load: grpc({ "grpc-timeout": "60S" }), against: HTTP2 },
];

export async function benchServing(): Promise<Row[]> {
  const ours = await start({ server: "offledger", offers: OFFERS });
  const servers: Partial<Record<Line["server"], Serving>> = { ours };
  try {
    servers.fastify = await start({ server: "fastify", answer: await answerOf(ours, acceptPath(0)) });
    servers.http2 = await start({ server: "http2", answer: await answerOf(ours, acceptPath(0)) });
    const costs = new Map(lines.map(({ what }): [string, number[]] => [what, []]));
    for (const { server, load } of lines) await load(servers[server]?.url ?? "", WARM_SECONDS);
    // One round behind the other, so that a slow minute of the machine meets all of them.
    for (let round = 0; round < ROUNDS; round++) {
      for (const { what, server, load } of lines) costs.get(what)?.push(await cost(servers[server] ?? ours, load));
    }
    return lines.map(({ what, against }) => rowOf(what, costs.get(what) ?? [], costs.get(against ?? "")));
  } finally {
    for (const server of Object.values(servers)) server.stop();
  }
}

/** CPU time for each request, in microseconds. */
async function cost(server: Serving, load: Line["load"]): Promise<number> {
  const before = await server.cpu();
  const { requests: count } = await load(server.url, SECONDS);
  return ((await server.cpu()) - before) / count;
}

function rowOf(what: string, costs: readonly number[], baseline: readonly number[] | undefined): Row {
  const figure = `${median(costs).toFixed(1)} µs`;
  if (baseline === undefined) return [what, figure, "of CPU for each request"];
  const ratios = costs.map((one, round) => (baseline[round] ?? Number.NaN) / one);
  return [what, figure, `${median(ratios).toFixed(2)} of what the bare server does with the same CPU`];
}

async function answerOf({ url }: Serving, path: string): Promise<string> {
  const body = JSON.stringify(contextBody(0));
  const response = await fetch(url + path, { method: "POST", headers: { "content-type": "application/json" }, body });
  return Buffer.from(await response.arrayBuffer()).toString("base64");
}

/** Starts a server on a core of its own, where the system can do that. */
async function start(target: Target): Promise<Serving> {
  const script = fileURLToPath(new URL("./server.ts", import.meta.url));
  const node = [process.execPath, "--import", "tsx", script, JSON.stringify(target)];
  const pinned = spawnSync("taskset", ["-V"]).status === 0 ? ["taskset", "-c", "0", ...node] : node;
  const [command = process.execPath, ...args] = pinned;
  const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const { url } = (await told(child)) as { url: string };
  return {
    url,
    async cpu() {
      child.send("cpu");
      return ((await told(child)) as { cpu: number }).cpu;
    },
    stop: () => child.kill(),
  };
}

async function told(child: ChildProcess): Promise<unknown> {
  const [message] = (await once(child, "message")) as [unknown];
  return message;
}

function at(list: readonly Buffer[], index: number): Buffer {
  return list[index % list.length] ?? Buffer.alloc(0);
}
