/** CPU per request of the largest settlement that a registry has to support, next to bare Fastify. */
import { withResources } from "../processes/resources.js";
import { generateSettlements } from "../registries/settlements.js";
import { writeSnapshot } from "../registries/snapshot.js";
import type { Row } from "../report/row.js";
import { startServer } from "../servers/start.js";
import { compareCpu, type CpuCase } from "./cpu.js";
import { noteSizes } from "./sizes.js";
import { recordResponses, workloads } from "./workloads.js";

const BASELINE = "baseline: bare Fastify, settlement-factory";
const OWN = "REST, settlement-factory, 25 legs";
const OWN_GZIP = `${OWN}, gzip`;
const MIN_DISCLOSED = 150;

export async function measureSettlement(): Promise<Row[]> {
  return withResources(async (keep) => {
    const { settings } = await keep(writeSnapshot(generateSettlements()));
    const own = await keep(startServer({ server: "offledger", settings }));
    const workload = workloads.settlement();
    const bodies = await recordResponses(own.url, workload);
    const disclosed = countDisclosed(bodies[0] ?? "");
    if (disclosed < MIN_DISCLOSED) throw new Error(`a settlement discloses only ${disclosed} contracts`);
    const baseline = await keep(startServer({ server: "fastify", bodies }));
    const { load } = workload;
    const ratio: CpuCase["ratio"] = { of: BASELINE, over: OWN, target: { atLeast: 0.35 } };
    const compressed = workloads.settlementGzip();
    const rows = await compareCpu([
      { title: BASELINE, server: baseline, load },
      { title: OWN, server: own, load, ratio, note: `CPU per request; ${disclosed} disclosed contracts` },
      { title: OWN_GZIP, server: own, load: compressed.load, ratio: { of: OWN, over: OWN_GZIP, target: undefined } },
    ]);
    return noteSizes(rows, OWN_GZIP, own.url, workload, compressed);
  });
}

function countDisclosed(body: string): number {
  const { choiceContext } = JSON.parse(Buffer.from(body, "base64").toString()) as {
    choiceContext: { disclosedContracts: unknown[] };
  };
  return choiceContext.disclosedContracts.length;
}
