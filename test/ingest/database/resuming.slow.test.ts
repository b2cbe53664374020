/** Mirrors and a replica on one database: which of them go on with its state, by their parties and packages. */
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import type { ProcessRoles } from "../../../src/ingest/database-source.js";
import type { AppConfig } from "../../../src/config/limits.js";
import { type App, startApp } from "../../../src/app/app.js";
import { element, parties, payload } from "../../fixtures/elements.js";
import { temporaryFile } from "../../fixtures/files.js";
import { completeElements } from "../../fixtures/operation-calls.js";
import { databaseAt } from "../../fixtures/postgres.js";
import { transferChoice } from "../../fixtures/requests.js";
import { quiet } from "../../fixtures/run-service.js";
import { until } from "../../fixtures/wait.js";
import { play } from "../../scripted-participant/elements.js";
import { ScriptedLedger } from "../../scripted-participant/ledger.js";
import { Participant } from "../../scripted-participant/participant.js";
import { type Right, Tokens } from "../../scripted-participant/tokens.js";
import { ask, becomesReady, inBackground, MIRROR, newDatabase, REPLICA } from "./services.js";

const OTHER = "other::1220";
const both: readonly Right[] = [
  ["CanReadAs", parties.operator],
  ["CanActAs", OTHER],
];
const [own] = both as [Right];

async function setUp(rights: readonly Right[], packageNames?: readonly string[]) {
  const ledger = new ScriptedLedger();
  play(ledger, completeElements(), { stakeholders: [parties.operator] });
  const offer = (id: string) => element("TransferOffer", id, payload.offer("alice", "bob", "USD", "locked"));
  play(ledger, [offer("others")], { stakeholders: [OTHER] });
  const tokens = new Tokens();
  const token = tokens.issue({ rights });
  const participant = await Participant.start({
    ledger,
    tokens,
    checkpointMs: 20,
    ...(packageNames && { packageNames }),
  });
  onTestFinished(() => participant.stop());
  const databaseUrl = await newDatabase();
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  /** The snapshot that is served, "0" before the first, and how many terms there were. */
  const state = async () => {
    const { rows } = await client.query<{ generation: string; epoch: string }>(
      "SELECT generation, epoch FROM offledger.state",
    );
    return { generation: rows[0]?.generation ?? "0", terms: Number(rows[0]?.epoch ?? 0) };
  };
  const ledgerTokenFile = await temporaryFile("token", token);
  const ofParticipant = { ledgerUrl: new URL(participant.url), ledgerParties: "user", ledgerTokenFile } as const;
  const start = async (roles: ProcessRoles): Promise<App> => {
    const more: Partial<AppConfig> = roles.mirrors ? ofParticipant : {};
    const app = await startApp(
      { ...quiet(), databaseUrl: databaseAt(databaseUrl), graceSeconds: 2, ...more },
      () => Date.parse("2026-06-01T00:00:00Z"),
      roles,
    );
    let closing: Promise<void> | undefined;
    const close = () => (closing ??= app.close());
    onTestFinished(close);
    return { ...app, close };
  };
  const append = (id: string) => play(ledger, [offer(id)], { stakeholders: [parties.operator] });
  return { participant, start, state, append, change: tokens.change.bind(tokens, token) };
}

const statusOf = async ({ url }: App, id: string): Promise<number> =>
  (await ask(url + transferChoice("v1", "reject")(id), {})).status;

test("the next mirror resumes with the same parties, and with others takes a snapshot while the one before is served", async () => {
  const { participant, start, state, append, change } = await setUp([own]);
  const first = await start(MIRROR);
  const replica = await start(REPLICA);
  await becomesReady(replica.url);
  append("second");
  await until("an update is served", async () => (await statusOf(replica, "second")) === 200);
  const filled = await state();

  const standby = await start(MIRROR);
  await first.close();
  await until("the standby leads", async () => (await state()).terms > filled.terms);
  append("third");
  await until("it has resumed", async () => (await statusOf(replica, "third")) === 200);
  expect((await state()).generation).toBe(filled.generation);

  await standby.close();
  change(...both);
  const statuses = new Set<number>();
  const asking = inBackground(async (signal) => {
    while (!signal.aborted) statuses.add(await statusOf(replica, "third"));
  });
  const third = await start(MIRROR);
  await until("the other party's offer is served", async () => (await statusOf(replica, "others")) === 200);
  await asking.end();
  expect([...statuses]).toEqual([200]);
  expect((await state()).generation).not.toBe(filled.generation);

  append("between");
  await until("an update is served", async () => (await statusOf(replica, "between")) === 200);
  // Of a mirror that begins, nothing is known: it does not guess while the rights cannot be read.
  await third.close();
  const before = await state();
  participant.faults.refuse(503, { path: "/v2/authenticated-user", times: 1_000_000 });
  await start(MIRROR);
  await until("it leads", async () => (await state()).terms > before.terms);
  append("fourth");
  const asked = participant.requests.filter(({ path }) => path === "/v2/authenticated-user").length;
  await until(
    "it has asked more than once",
    () => participant.requests.filter(({ path }) => path === "/v2/authenticated-user").length > asked + 2,
  );
  expect((await state()).generation).toBe(before.generation);
  expect([await statusOf(replica, "others"), await statusOf(replica, "third")]).toEqual([200, 200]);
  participant.faults.clear();
  await until("it has resumed", async () => (await statusOf(replica, "fourth")) === 200);
  expect((await state()).generation).toBe(before.generation);
});

test("the next mirror resumes although the participant lacks a package, until that has it", async () => {
  const { participant, start, state, append } = await setUp([own], ["utility-registry-app-v0"]);
  const first = await start(MIRROR);
  const replica = await start(REPLICA);
  await until("it is filled", async () => (await state()).generation !== "0");
  append("second");
  await until("an update is served", async () => (await statusOf(replica, "second")) === 200);
  const filled = await state();
  await first.close();

  const second = await start(MIRROR);
  await until("it leads", async () => (await state()).terms > filled.terms);
  append("third");
  await until("it has resumed", async () => (await statusOf(replica, "third")) === 200);
  expect((await state()).generation).toBe(filled.generation);
  await second.close();

  participant.upload("utility-registry-holding-v0");
  await start(MIRROR);
  await until("a snapshot is taken", async () => (await state()).generation !== filled.generation);
});
