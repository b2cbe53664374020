/** A service whose parties are those of the token's user: it waits for the first, and follows what is granted and taken away. */
import { expect, onTestFinished, test } from "vitest";
import { startApp } from "../../src/app/app.js";
import type { AppConfig } from "../../src/config/limits.js";
import type { JsonObject } from "../../src/util/json.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { temporaryFile } from "../fixtures/files.js";
import { completeElements } from "../fixtures/operation-calls.js";
import { databaseAt } from "../fixtures/postgres.js";
import { freshSchema } from "../fixtures/postgres-schema.js";
import { transferChoice } from "../fixtures/requests.js";
import { quiet } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";
import { play } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant } from "../scripted-participant/participant.js";
import { type Right, Tokens } from "../scripted-participant/tokens.js";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const OTHER = "other::1220";
const reads = (party: string): Right => ["CanReadAs", party];

async function memory(): Promise<Partial<AppConfig>> {
  return Promise.resolve({});
}

async function database(): Promise<Partial<AppConfig>> {
  const schema = await freshSchema();
  onTestFinished(() => schema.drop());
  return { databaseUrl: databaseAt(schema.url) };
}

/** A registry that the operator sees, with an offer `others` that only another party sees. */
async function onParticipant(...rights: readonly Right[]) {
  const ledger = new ScriptedLedger();
  play(ledger, completeElements(), { stakeholders: [parties.operator] });
  const others = element("TransferOffer", "others", payload.offer("alice", "bob", "USD", "locked"));
  play(ledger, [others], { stakeholders: [OTHER] });
  const tokens = new Tokens();
  const token = tokens.issue({ rights });
  const participant = await Participant.start({ ledger, tokens, checkpointMs: 20 });
  onTestFinished(() => participant.stop());
  const more = { ledgerUrl: new URL(participant.url), ledgerTokenFile: await temporaryFile("token", token) };
  return {
    participant,
    config: { ...more, ledgerParties: "user" as const },
    change: tokens.change.bind(tokens, token),
  };
}

/** What a service says of its readiness, and whether it knows an offer. */
function asking(url: string) {
  const readiness = async () => {
    const response = await fetch(`${url}/readyz`);
    const { error } = (await response.json()) as { readonly error?: string };
    return response.status === 200 ? "ready" : error;
  };
  const offer = async (id: string) => {
    const path = transferChoice("v1", "reject")(id);
    const headers = { "content-type": "application/json" };
    const response = await fetch(url + path, { method: "POST", body: "{}", headers });
    const { factoryId: _, ...body } = (await response.json()) as JsonObject;
    return [response.status, body] as const;
  };
  return { readiness, statusOf: async (id: string) => (await offer(id))[0] };
}

test.each([
  ["memory", memory],
  ["a database", database],
])(
  "in %s: rights come and go without a restart, and what they do not concern is served all the time",
  async (_, store) => {
    const { config, change } = await onParticipant(["ParticipantAdmin"]);
    const app = await startApp({ ...quiet(), ...config, ...(await store()) }, () => NOW);
    onTestFinished(() => app.close());
    const { readiness, statusOf } = asking(app.url);
    const reason = /has ParticipantAdmin, which gives no reading: grant it CanReadAs for each party/;
    await until("it says what to grant", async () => reason.test((await readiness()) ?? ""));

    change(reads(parties.operator));
    await until("it is ready", async () => (await readiness()) === "ready");
    expect([await statusOf("offer"), await statusOf("others")]).toEqual([200, 404]);

    // What is asked for all the time, until the last change.
    const statuses = new Set<number>();
    const end = new AbortController();
    const asked = (async () => {
      while (!end.signal.aborted) statuses.add(await statusOf("offer"));
    })();
    onTestFinished(async () => {
      end.abort();
      await asked;
    });
    change(reads(parties.operator), ["CanActAs", OTHER]);
    await until("the other offer is served", async () => (await statusOf("others")) === 200);
    change(reads(parties.operator));
    await until("it is served no more", async () => (await statusOf("others")) === 404);
    expect(await readiness()).toBe("ready");
    end.abort();
    await asked;
    expect([...statuses]).toEqual([200]);
  },
);

test("to read as any party needs the registrars by name for a registry that reads by interface", async () => {
  const { participant, config } = await onParticipant(["CanReadAsAnyParty"]);
  const unnamed = await startApp({ ...quiet(), ...config, registry: "standard" }, () => NOW);
  onTestFinished(() => unnamed.close());
  const sentence = /may read as any party, so that nothing tells our registrars from others: set OFFLEDGER_REGISTRARS/;
  await until("it says so", async () => sentence.test((await asking(unnamed.url).readiness()) ?? ""));

  const app = await startApp({ ...quiet(), ...config, registrars: [parties.registrar] }, () => NOW);
  onTestFinished(() => app.close());
  const { readiness, statusOf } = asking(app.url);
  await until("it is ready", async () => (await readiness()) === "ready");
  expect([await statusOf("offer"), await statusOf("others"), await statusOf("nobodys")]).toEqual([200, 200, 404]);
  const formats = participant.requests
    .map(({ body }) => JSON.stringify(body ?? null))
    .filter((body) => body.includes("filters"));
  expect(formats.length).toBeGreaterThan(0);
  for (const format of formats) expect(format).toMatch(/"filtersForAnyParty":\{"cumulative":\[\{(?!.*filtersByParty)/);
});
