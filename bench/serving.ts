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
  readonly load: Load;
  readonly baseline: Omit<Baseline, "bodies">;
  /** The requests with and without debug fields whose responses the baseline sends; of connect-node their messages. */
  readonly recorded: readonly Request[];
  /** HTTP/1.1 is slower in a process that also serves HTTP/2. */
  readonly registry: "HTTP/1.1" | "HTTP/2" | "settlements";
}

/** Requests with and without debug fields in turn. */
const both = <T>(count: number, create: (index: number, hasDebug: boolean) => T): readonly T[] =>
  Array.from({ length: 2 * count }, (_, index) => create(index % count, (index + Math.floor(index / count)) % 2 === 0));

const cycle = (list: readonly Buffer[]) => (index: number) => list[index % list.length] ?? Buffer.alloc(0);

function message(offer: number, hasDebug: boolean) {
  const json: JsonObject = {
    registrarParty: parties.registrar,
    transferInstructionId: offerId(offer),
    ...acceptBody(hasDebug),
  };
  return fromJson(method.input, json);
}

const toRequest = (type: string, body: Request["body"]): Request => ({ path: RPC_PATH, type, body });

const http1 = (
  title: string,
  requests: readonly Request[],
  server: Baseline["server"] = "Fastify",
  recorded = requests,
  registry: Workload["registry"] = "HTTP/1.1",
): Workload => ({
  title,
  load: loadHttp1(cycle(requests.map(encodeHttp1))),
  baseline: { server, httpVersion: 1 },
  recorded: recorded.slice(0, 2),
  registry,
});

function createWorkloads(): readonly Workload[] {
  const messages = both(OFFERS, (...form) => message(...form));
  const json = messages.map((one) => toRequest("application/json", toJsonString(method.input, one)));
  const binary = messages.map((one) => toRequest("application/proto", toBinary(method.input, one)));
  const settlements = both(SETTLEMENTS, settlementRequest);
  return [
    http1("REST, transfer accept", both(OFFERS, acceptRequest)),
    http1("REST, transfer factory", both(OFFERS, transferRequest)),
    http1("Connect JSON, transfer accept", json, "connect-node", binary),
    http1("Connect binary, transfer accept", binary, "connect-node"),
    {
      title: "gRPC, transfer accept",
      load: loadGrpc(RPC_PATH, cycle(messages.map((one) => frameGrpc(toBinary(method.input, one))))),
      baseline: { server: "connect-node", httpVersion: 2 },
      recorded: binary.slice(0, 2),
      registry: "HTTP/2",
    },
    http1("REST, settlement of 25 legs", settlements, "Fastify", settlements, "settlements"),
  ];
}

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
    for (const { title, load, baseline, recorded, registry } of createWorkloads()) {
      const { own, other } = services[registry];
      const measure = await cpuPerRequest(own, load);
      if (other === undefined) {
        const bodies = await Promise.all(recorded.map((request) => recordResponse(own.url, request)));
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

async function recordResponse(url: string, { path, type, body }: Request): Promise<Uint8Array> {
  const response = await fetch(url + path, { method: "POST", headers: { "content-type": type }, body });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return new Uint8Array(await response.arrayBuffer());
}
