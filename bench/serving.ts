/** CPU time per request of each protocol and of a large settlement, next to a bare server or to another build. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fromJson, type JsonObject, toBinary, toJsonString } from "@bufbuild/protobuf";
import { TransferInstructionService } from "../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { BuiltService } from "../test/fixtures/built-service.js";
import { parties } from "../test/fixtures/elements.js";
import type { Baseline } from "./baseline.js";
import { cpuPerRequest, encodeHttp1, frameGrpc, type Load, loadGrpc, loadHttp1, type Request } from "./load.js";
import { startChild, withResources } from "./processes.js";
import { generateSettlements, SETTLEMENTS, settlementRequest } from "./settlements.js";
import { type Case, measureRounds, type Row } from "./table.js";
import { acceptBody, acceptRequest, generateTransfers, offerId, transferRequest, writeSnapshot } from "./registry.js";

const OFFERS = 1_000;
const ROUNDS = 10;

const method = TransferInstructionService.method.getTransferInstructionAcceptContext;
const RPC_PATH = `/${method.parent.typeName}/${method.name}`;

/** What is sent in a row of the table, and what answers the same bytes. */
interface Workload {
  readonly title: string;
  readonly requests: readonly Request[];
  readonly load: Load;
  readonly baseline: Omit<Baseline, "bodies">;
  /** HTTP/1.1 is slower in a process that also serves HTTP/2. */
  readonly registry: "HTTP/1.1" | "HTTP/2" | "settlements";
}

/** Requests with and without debug fields in turn. */
const both = (count: number, request: (index: number, hasDebug: boolean) => Request): readonly Request[] =>
  Array.from({ length: 2 * count }, (_, index) =>
    request(index % count, (index + Math.floor(index / count)) % 2 === 0),
  );

const cycle = (list: readonly Buffer[]) => (index: number) => list[index % list.length] ?? Buffer.alloc(0);

function message(offer: number, hasDebug: boolean) {
  const json: JsonObject = {
    registrarParty: parties.registrar,
    transferInstructionId: offerId(offer),
    ...acceptBody(hasDebug),
  };
  return fromJson(method.input, json);
}

const connectJson = both(OFFERS, (...form) => ({
  path: RPC_PATH,
  type: "application/json",
  body: toJsonString(method.input, message(...form)),
}));
const connectBinary = both(OFFERS, (...form) => ({
  path: RPC_PATH,
  type: "application/proto",
  body: toBinary(method.input, message(...form)),
}));

function http1(
  title: string,
  requests: readonly Request[],
  server: Baseline["server"],
  registry: Workload["registry"] = "HTTP/1.1",
): Workload {
  const load = loadHttp1(cycle(requests.map(encodeHttp1)));
  return { title, requests, load, baseline: { server, httpVersion: 1 }, registry };
}

const createWorkloads = (): readonly Workload[] => [
  http1("REST, transfer accept", both(OFFERS, acceptRequest), "Fastify"),
  http1("REST, transfer factory", both(OFFERS, transferRequest), "Fastify"),
  http1("Connect JSON, transfer accept", connectJson, "connect-node"),
  http1("Connect binary, transfer accept", connectBinary, "connect-node"),
  {
    title: "gRPC, transfer accept",
    requests: connectBinary,
    load: loadGrpc(RPC_PATH, cycle(connectBinary.map(({ body }) => frameGrpc(body as Uint8Array)))),
    baseline: { server: "connect-node", httpVersion: 2 },
    registry: "HTTP/2",
  },
  http1("REST, settlement of 25 legs", both(SETTLEMENTS, settlementRequest), "Fastify", "settlements"),
];

/** `checkout` is the folder of another build, which then is the baseline. */
export async function measureServing(checkout?: string): Promise<Row[]> {
  const main = checkout === undefined ? undefined : resolve(checkout, "dist/src/main.js");
  if (main !== undefined && !existsSync(main)) throw new Error(`${main} does not exist: run npm run build there`);
  return withResources(async (keep) => {
    const start = async (elements: Iterable<JsonObject>) => {
      const settings = { OFFLEDGER_SNAPSHOT: (await keep(writeSnapshot(elements))).path, OFFLEDGER_LOG_LEVEL: "error" };
      const own = await keep(BuiltService.start({ settings }));
      return { own, other: main === undefined ? undefined : await keep(BuiltService.start({ settings, main })) };
    };
    const services = {
      "HTTP/1.1": await start(generateTransfers(OFFERS)),
      "HTTP/2": await start(generateTransfers(OFFERS)),
      settlements: await start(generateSettlements()),
    };
    const cases: Case[] = [];
    for (const { title, requests, load, baseline, registry } of createWorkloads()) {
      const { own, other } = services[registry];
      const measure = await cpuPerRequest(own, load);
      if (other === undefined) {
        const bodies = await recordResponses(own.url, baseline.server === "connect-node" ? connectBinary : requests);
        const bare = await keep(
          startChild(new URL("baseline.ts", import.meta.url), { ...baseline, bodies } satisfies Baseline),
        );
        const measureBare = await cpuPerRequest({ url: bare.url, cpu: () => bare.ask<number>({}) }, load);
        cases.push({ title, unit: "µs CPU", measure, baseline: { title: baseline.server, measure: measureBare } });
      } else {
        const measureOther = await cpuPerRequest(other, load);
        cases.push({ title, unit: "µs CPU", measure, baseline: { title: "other build", measure: measureOther } });
      }
    }
    return measureRounds(ROUNDS, cases);
  });
}

/** The responses to the first two requests: with and without debug fields. */
function recordResponses(url: string, requests: readonly Request[]): Promise<Uint8Array[]> {
  return Promise.all(
    requests.slice(0, 2).map(async ({ path, type, body }) => {
      const response = await fetch(url + path, { method: "POST", headers: { "content-type": type }, body: body });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return new Uint8Array(await response.arrayBuffer());
    }),
  );
}
