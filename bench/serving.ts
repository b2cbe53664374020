/** CPU time per request of each protocol, next to bare servers that answer with the same bytes, to each other, or to another build. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fromJson, type JsonObject, toBinary, toJsonString } from "@bufbuild/protobuf";
import { TransferInstructionService } from "../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { BuiltService } from "../test/fixtures/built-service.js";
import { parties } from "../test/fixtures/elements.js";
import type { Baseline } from "./baseline.js";
import { buildGo, isGoAtHand, startGo } from "./go.js";
import {
  cpuPerRequest,
  type Effort,
  encodeHttp1,
  frameGrpc,
  type Load,
  loadGrpc,
  loadHttp1,
  type Request,
} from "./load.js";
import { type Keep, startChild, withResources } from "./processes.js";
import { generateSettlements, SETTLEMENTS, settlementRequest } from "./settlements.js";
import { type Case, measureRounds, type Row } from "./table.js";
import {
  acceptBody,
  acceptRequest,
  BASE_PATH,
  generateTransfers,
  offerId,
  transferRequest,
  writeSnapshot,
} from "./registry.js";

const OFFERS = 1_000;
/** No offer has these ids. */
const UNKNOWN = 1_000_000;

const method = TransferInstructionService.method.getTransferInstructionAcceptContext;
const RPC_PATH = `/${method.parent.typeName}/${method.name}`;
/** As clients send it whose calls have a deadline, as those of most callers do. */
const CONNECT_DEADLINE = { "connect-protocol-version": "1", "connect-timeout-ms": "10000" };
const GRPC_DEADLINE = { "grpc-timeout": "10S" };

/** What is sent to one of the services. */
interface Workload {
  readonly load: Load;
  /** HTTP/1.1 is slower in a process that also serves HTTP/2. */
  readonly registry: "HTTP/1.1" | "HTTP/2" | "settlements";
  /** The requests with and without debug fields whose responses a bare server sends. */
  readonly recorded: readonly Request[];
}

/** Requests with and without debug fields in turn. */
const both = <T>(count: number, create: (index: number, hasDebug: boolean) => T): readonly T[] =>
  Array.from({ length: 2 * count }, (_, index) => create(index % count, (index + Math.floor(index / count)) % 2 === 0));

const cycle = (list: readonly Buffer[]) => (index: number) => list[index % list.length] ?? Buffer.alloc(0);

function http1(requests: readonly Request[], status = 200, registry: Workload["registry"] = "HTTP/1.1"): Workload {
  return { load: loadHttp1(cycle(requests.map(encodeHttp1)), status), registry, recorded: requests.slice(0, 2) };
}

function message(offer: number, hasDebug: boolean) {
  const of = { registrarParty: parties.registrar, transferInstructionId: offerId(offer) };
  return fromJson(method.input, { ...of, ...acceptBody(hasDebug) });
}
type Message = ReturnType<typeof message>;

const json = (one: Message): Request => rpc("application/json", toJsonString(method.input, one));
const binary = (one: Message): Request => rpc("application/proto", toBinary(method.input, one));
const rpc = (type: string, body: string | Uint8Array): Request => ({ path: RPC_PATH, type, body });
const withHeaders = (requests: readonly Request[], headers: Request["headers"] = {}): readonly Request[] =>
  requests.map((request) => ({ ...request, headers }));

function grpc(messages: readonly Message[], headers = {}, status?: string): Workload {
  const frames = messages.map((one) => frameGrpc(toBinary(method.input, one)));
  const load = loadGrpc(RPC_PATH, cycle(frames), headers, status);
  return { load, registry: "HTTP/2", recorded: messages.slice(0, 2).map(binary) };
}

function createWorkloads() {
  const accepts = both(OFFERS, acceptRequest);
  const messages = both(OFFERS, message);
  const unknown = both(OFFERS, (index, hasDebug) => message(UNKNOWN + index, hasDebug));
  return {
    "REST, transfer accept": http1(accepts),
    "REST, transfer factory": http1(both(OFFERS, transferRequest)),
    "REST, settlement of 25 legs": http1(both(SETTLEMENTS, settlementRequest), 200, "settlements"),
    "REST, transfer accept, gzip": http1(withHeaders(accepts, { "accept-encoding": "gzip" })),
    "Connect JSON, deadline": http1(withHeaders(messages.map(json), CONNECT_DEADLINE)),
    "Connect JSON, no deadline": http1(messages.map(json)),
    "Connect binary, deadline": http1(withHeaders(messages.map(binary), CONNECT_DEADLINE)),
    "gRPC, deadline": grpc(messages, GRPC_DEADLINE),
    "gRPC, no deadline": grpc(messages),
    "REST, unknown id": http1(
      both(OFFERS, (index, hasDebug) => acceptRequest(UNKNOWN + index, hasDebug)),
      404,
    ),
    "Connect JSON, unknown id": http1(withHeaders(unknown.map(json), CONNECT_DEADLINE), 404),
    "gRPC, unknown id": grpc(unknown, GRPC_DEADLINE, "5"),
    "REST, metadata/v1/info": http1([{ path: `${BASE_PATH}/metadata/v1/info`, type: "" }]),
  };
}
type Name = keyof ReturnType<typeof createWorkloads>;

const GO = "Go net/http";
type Server = Baseline["server"] | typeof GO;

/** The rows: what is measured, and next to what, a bare server or another row. Calls by rpc are transfer accepts. */
const ROWS: readonly (readonly [Name, Name | Server])[] = [
  ["REST, transfer accept", "Fastify"],
  ["REST, transfer accept", "node:http"],
  ["REST, transfer accept", GO],
  ["REST, transfer factory", "Fastify"],
  ["REST, settlement of 25 legs", "Fastify"],
  ["REST, transfer accept, gzip", "Fastify, gzipSync"],
  ["Connect JSON, deadline", "Fastify"],
  ["Connect binary, deadline", "Fastify"],
  ["gRPC, deadline", "node:http2"],
  ["gRPC, deadline", GO],
  ["Connect JSON, deadline", "Connect JSON, no deadline"],
  ["gRPC, deadline", "gRPC, no deadline"],
  ["REST, unknown id", "REST, transfer accept"],
  ["Connect JSON, unknown id", "Connect JSON, deadline"],
  ["gRPC, unknown id", "gRPC, deadline"],
  ["REST, metadata/v1/info", "REST, transfer accept"],
];

/** `checkout` is the folder of another build, which then is the baseline of all. */
export async function measureServing(effort: Effort, checkout?: string): Promise<Row[]> {
  const workloads = createWorkloads();
  const names = Object.keys(workloads) as Name[];
  const unit = "µs CPU";
  return withResources(async (keep) => {
    const measureAll = (services: Services) => {
      const measures = new Map<string, Case["measure"]>();
      for (const name of names) {
        const { registry, load } = workloads[name];
        measures.set(name, cpuPerRequest(services[registry], load, effort));
      }
      return (name: Name | Server) => measures.get(name);
    };
    const services = await startServices(keep);
    const own = measureAll(services);
    const other = checkout === undefined ? undefined : measureAll(await startServices(keep, checkout));
    const go = other === undefined && isGoAtHand() ? await keep(buildGo()) : undefined;
    if (other === undefined && go === undefined) process.stderr.write("no rows of Go: 1.24 or later is not at hand\n");

    const measureBare = async (server: Server, { load, registry, recorded }: Workload) => {
      const bodies = await Promise.all(recorded.map((one) => recordResponse(services[registry].url, one)));
      const [first] = recorded;
      const answers =
        registry === "HTTP/2"
          ? { type: "application/grpc+proto", bodies: bodies.map(frameGrpc) }
          : { type: first?.type ?? "", bodies };
      const bare =
        server === GO ? await keep(startGo(go?.folder ?? "", answers)) : await keep(startBare({ server, ...answers }));
      return cpuPerRequest(bare, load, effort);
    };
    const cases: Case[] = [];
    const rows = other === undefined ? ROWS : names.map((name) => [name, name] as const);
    for (const [title, baseline] of rows) {
      if (baseline === GO && go === undefined) continue;
      const measure = own(title);
      const next = (other ?? own)(baseline) ?? (await measureBare(baseline as Server, workloads[title]));
      if (measure === undefined) throw new Error(`${title} is not measured`);
      cases.push({
        title,
        unit,
        measure,
        baseline: { title: other === undefined ? baseline : "other build", measure: next },
      });
    }
    return measureRounds(effort.rounds, cases);
  });
}

type Services = Readonly<Record<Workload["registry"], BuiltService>>;

async function startServices(keep: Keep, checkout?: string): Promise<Services> {
  const main = checkout === undefined ? undefined : resolve(checkout, "dist/src/main.js");
  if (main !== undefined && !existsSync(main)) throw new Error(`${main} does not exist: run npm run build there`);
  const start = async (elements: Iterable<JsonObject>) => {
    const { path } = await keep(writeSnapshot(elements));
    return keep(BuiltService.start({ settings: { OFFLEDGER_SNAPSHOT: path }, main }));
  };
  return {
    "HTTP/1.1": await start(generateTransfers(OFFERS)),
    "HTTP/2": await start(generateTransfers(OFFERS)),
    settlements: await start(generateSettlements()),
  };
}

async function startBare(options: Baseline) {
  const { url, ask, stop } = await startChild(new URL("baseline.ts", import.meta.url), options);
  return { url, stop, cpu: () => ask<number>({}) };
}

async function recordResponse(url: string, { path, type, body = "" }: Request): Promise<Uint8Array> {
  const response = await fetch(url + path, { method: "POST", headers: { "content-type": type }, body });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return new Uint8Array(await response.arrayBuffer());
}
