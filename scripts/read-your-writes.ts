/**
 * Measures on a real participant, while others use it, how long a service takes to answer for an offer right after its
 * creation, and for an unknown id; and whether it stays ready. The participant is one that shared/real-participant starts:
 *
 *   tsx scripts/read-your-writes.ts --ledger http://127.0.0.1:7864 --parties parties.json --service http://127.0.0.1:8080
 */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    ledger: { type: "string", default: "http://127.0.0.1:7864" },
    /** What onboard.mjs has written. */
    parties: { type: "string" },
    service: { type: "string", default: "http://127.0.0.1:8080" },
    requests: { type: "string", default: "1000" },
    /** Transactions of others, in a second. */
    traffic: { type: "string", default: "20" },
  },
});
if (values.parties === undefined) throw new Error("--parties is missing: the file that onboard.mjs has written");
const { parties } = JSON.parse(readFileSync(values.parties, "utf8")) as { parties: Record<string, string> };
const party = (name: string): string => parties[name] ?? name;
/** Transactions of others under way at most. */
const MAX_FOREIGN = 16;
const READY_MS = 50;

const HOLDING = "#utility-registry-holding-v0:Utility.Registry.Holding.V0.Holding:Holding";
const OFFER = "#utility-registry-app-v0:Utility.Registry.App.V0.Model.Transfer:TransferOffer";
const instrument = { source: party("registrar"), id: "PLAIN", scheme: "RegistrarInternalScheme" };

let commands = 0;
const run = Date.now().toString(36);

/** Creates a contract, and returns its id when the participant has it. */
async function create(actAs: readonly string[], templateId: string, createArguments: object): Promise<string> {
  const response = await fetch(`${values.ledger}/v2/commands/submit-and-wait-for-transaction`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      commands: {
        commandId: `read-your-writes-${run}-${++commands}`,
        userId: "participant_admin",
        actAs,
        readAs: [],
        commands: [{ CreateCommand: { templateId, createArguments } }],
        disclosedContracts: [],
        packageIdSelectionPreference: [],
      },
    }),
  });
  const body = (await response.json()) as {
    transaction?: { events: { CreatedEvent?: { contractId: string } }[] };
    cause?: string;
  };
  const contractId = body.transaction?.events[0]?.CreatedEvent?.contractId;
  if (contractId === undefined) throw new Error(`${templateId} cannot be created: ${body.cause ?? response.status}`);
  return contractId;
}

const holding = (registry: string, provider: string, registrar: string, owner: string, lock: object | null) => ({
  operator: registry,
  provider,
  registrar,
  owner,
  instrument: { ...instrument, source: registrar },
  label: "",
  amount: "10.0",
  lock,
});

const offer = (lockedHolding: string) => ({
  operator: party("operator"),
  provider: party("provider"),
  transfer: {
    sender: party("alice"),
    receiver: party("bob"),
    amount: "10.0",
    instrumentId: { admin: party("registrar"), id: "PLAIN" },
    requestedAt: new Date(Date.now() - 60_000).toISOString(),
    executeBefore: new Date(Date.now() + 3_600_000).toISOString(),
    inputHoldingCids: [lockedHolding],
    meta: { values: {} },
  },
});

async function accept(contractId: string): Promise<{ readonly took: number; readonly status: number }> {
  const path = `/api/token-standard/v0/registrars/${encodeURIComponent(party("registrar"))}/registry/transfer-instruction/v1`;
  const asked = performance.now();
  const response = await fetch(`${values.service}${path}/${contractId}/choice-contexts/accept`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  await response.arrayBuffer();
  return { took: performance.now() - asked, status: response.status };
}

const traffic = { submitted: 0, failed: 0, open: 0 };
const failures = new Map<string, number>();
let asked = 0;
let isOver = false;

/** Contracts of parties that the service does not read as. */
async function writeForeign(): Promise<void> {
  while (!isOver) {
    await delay(1_000 / Number(values.traffic));
    if (traffic.open >= MAX_FOREIGN) continue;
    traffic.open++;
    const foreign = holding(party("stranger"), party("stranger"), party("stranger"), party("carol"), null);
    void create([party("stranger"), party("carol")], HOLDING, foreign)
      .then(
        () => traffic.submitted++,
        () => traffic.failed++,
      )
      .finally(() => traffic.open--);
  }
}

async function askReadiness(): Promise<void> {
  while (!isOver) {
    await delay(READY_MS);
    const response = await fetch(`${values.service}/readyz`);
    const text = await response.text();
    asked++;
    if (response.status !== 200) failures.set(text, (failures.get(text) ?? 0) + 1);
  }
}

function figures(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN);
  return `median ${at(0.5)}, 90 % ${at(0.9)}, 99 % ${at(0.99)}, max ${at(1)} ms`;
}

const begun = performance.now();
const background = [writeForeign(), askReadiness()];
const lock = { lockers: { map: [[party("registrar"), {}]] }, context: "", observers: { map: [] } };
const locked = await create(
  [party("registrar"), party("alice")],
  HOLDING,
  holding(party("operator"), party("provider"), party("registrar"), party("alice"), lock),
);
const [created, unknown]: [number[], number[]] = [[], []];
const statuses: Record<string, number> = {};
const count = (what: string) => (statuses[what] = (statuses[what] ?? 0) + 1);
for (let index = 0; index < Number(values.requests); index++) {
  const contractId = await create([party("alice"), party("provider"), party("registrar")], OFFER, offer(locked));
  const answer = await accept(contractId);
  created.push(answer.took);
  count(`created ${answer.status}`);
  if (index % 4 > 0) continue;
  const missing = await accept(`00${"ab".repeat(60)}${String(index).padStart(6, "0")}`);
  unknown.push(missing.took);
  count(`unknown ${missing.status}`);
}
isOver = true;
await Promise.all(background);
const seconds = (performance.now() - begun) / 1_000;
console.log(`created: ${figures(created)}`);
console.log(`unknown: ${figures(unknown)}`);
console.log(JSON.stringify(statuses));
console.log(`${(traffic.submitted / seconds).toFixed(1)} transactions of others a second, ${traffic.failed} failed`);
console.log(`/readyz asked ${asked} times in ${Math.round(seconds)} s, not ready: ${JSON.stringify([...failures])}`);
