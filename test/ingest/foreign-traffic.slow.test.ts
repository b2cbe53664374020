/**
 * Read-your-writes and readiness while others use the participant: 20 transactions a second that no filter shows. Prints
 * figures; docs/participant.md has them. OFFLEDGER_TEST_READY_SECONDS is how long readiness is asked for.
 */
import { tmpdir } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { creationsOf } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant } from "../scripted-participant/participant.js";
import type { JsonObject } from "../../src/domain/json.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { freshDatabase } from "../fixtures/postgres.js";
import { main, Program } from "../fixtures/program.js";
import { registryOf } from "../fixtures/registries.js";
import { registry } from "../fixtures/run-service.js";
import { ask, becomesReady, listening } from "./database/services.js";

const REQUESTS = 1_000;
const FOREIGN_MS = 50;
const READY_MS = 1_000 * Number(process.env["OFFLEDGER_TEST_READY_SECONDS"] ?? 20);

interface Setup {
  readonly ledger: ScriptedLedger;
  readonly url: string;
}

/** A service on a participant that others use. */
async function setUp(kind: "mirror" | "replica"): Promise<Setup> {
  const ledger = new ScriptedLedger({ clock: () => new Date() });
  create(ledger, registryOf());
  const participant = await Participant.start({ ledger, checkpointMs: 15_000 });
  onTestFinished(() => participant.stop());
  const traffic = setInterval(() => ledger.elsewhere(), FOREIGN_MS);
  onTestFinished(() => clearInterval(traffic));
  const ledgerSettings = { OFFLEDGER_LEDGER_URL: participant.url, OFFLEDGER_LEDGER_PARTIES: parties.operator };
  if (kind === "mirror") return { ledger, url: await start("serve", ledgerSettings) };
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  await start("mirror", { ...ledgerSettings, OFFLEDGER_DATABASE_URL: database.url });
  return { ledger, url: await start("api", { OFFLEDGER_DATABASE_URL: database.url }) };
}

async function start(command: string, env: Readonly<Record<string, string>>): Promise<string> {
  const settings = { OFFLEDGER_PORT: "0", OFFLEDGER_UNREADY_SECONDS: "3", ...env };
  const url = await listening(new Program(process.execPath, [main, command], { cwd: tmpdir(), env: settings }));
  await becomesReady(url);
  return url;
}

const accept = (url: string, id: string) =>
  ask(`${url}${registry()}/transfer-instruction/v2/${id}/choice-contexts/accept`, {});

function create(ledger: ScriptedLedger, elements: readonly JsonObject[]): void {
  const signatories = [parties.operator];
  ledger.transact(creationsOf(elements).map((one) => ({ create: Object.assign(one, { signatories }) })));
}

const offer = (id: string): readonly JsonObject[] => [
  element("TransferOffer", id, payload.offer("alice", "bob", "USD", `locked-${id}`)),
  element("Holding", `locked-${id}`, payload.lockedHolding("alice", "USD")),
];

function figures(times: readonly number[]) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? NaN);
  return { median: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

test.each(["mirror", "replica"] as const)(
  "a contract is served right after its creation, and an unknown one is 404, on a %s",
  async (kind) => {
    const { ledger, url } = await setUp(kind);
    const [created, unknown, known]: [number[], number[], number[]] = [[], [], []];
    const statuses = new Map<string, number>();
    const count = (what: string, status: number) =>
      statuses.set(`${what} ${status}`, (statuses.get(`${what} ${status}`) ?? 0) + 1);
    for (let index = 0; index < REQUESTS; index++) {
      create(ledger, offer(`offer-${index}`));
      const answer = await accept(url, `offer-${index}`);
      created.push(answer.took);
      count("created", answer.status);
      // At another moment of the traffic each time.
      await delay(index % 17);
      if (index % 4 > 0) continue;
      const missing = await accept(url, `unknown-${index}`);
      unknown.push(missing.took);
      count("unknown", missing.status);
      known.push((await accept(url, `offer-${index}`)).took);
    }
    const all = { created: figures(created), unknown: figures(unknown), known: figures(known) };
    console.log(`${kind}: ${JSON.stringify(all)}`);
    // Where a loaded machine does not reach the ledger's end in time, an unknown contract is 503, and nothing else.
    const late = statuses.get("unknown 503") ?? 0;
    expect(late).toBeLessThan(REQUESTS / 4 / 20);
    statuses.delete("unknown 503");
    expect(Object.fromEntries(statuses)).toEqual({ "created 200": REQUESTS, "unknown 404": REQUESTS / 4 - late });
  },
  600_000,
);

test.each(["mirror", "replica"] as const)(
  "readiness within 3 s never fails on a %s",
  async (kind) => {
    const { url } = await setUp(kind);
    const failures: string[] = [];
    let asked = 0;
    for (const until = performance.now() + READY_MS; performance.now() < until; asked++) {
      const { status, body } = await ask(`${url}/readyz`);
      if (status !== 200) failures.push(JSON.stringify(body));
      await delay(50);
    }
    console.log(`${kind}: ready ${asked} times, not ready ${failures.length} times`);
    expect(failures).toEqual([]);
  },
  READY_MS + 60_000,
);
