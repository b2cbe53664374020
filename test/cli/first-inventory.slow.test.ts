/** The inventory of a service that is ready only some time after its start: a mirrored ledger, and a database. */
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { play } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant } from "../scripted-participant/participant.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { completeElements } from "../fixtures/operation-calls.js";
import { freshDatabase } from "../fixtures/postgres.js";
import { type Program, start as startProgram, startAtTerminal } from "../fixtures/program.js";
import { until } from "../fixtures/wait.js";
import { becomesReady, listening } from "../ingest/database/services.js";

let participant: Participant;
let databaseUrl: string;
beforeEach(async () => {
  const ledger = new ScriptedLedger();
  const offers = Array.from({ length: 60 }, (_, index) =>
    element("TransferOffer", `offer-${index}`, payload.offer("alice", "bob", "USD", `gone-${index}`)),
  );
  // A second kind of warning, whose instrument has no configuration.
  const unknown = element("TransferOffer", "offer-of-unknown", payload.offer("alice", "bob", "XXX", "gone-too"));
  play(ledger, completeElements({ added: [...offers, unknown] }), { stakeholders: [parties.operator] });
  participant = await Participant.start({ ledger, checkpointMs: 20 });
  const database = await freshDatabase();
  databaseUrl = database.url;
  onTestFinished(async () => {
    await participant.stop();
    await database.drop();
  });
});

const ofLedger = () => ({ OFFLEDGER_LEDGER_URL: participant.url, OFFLEDGER_LEDGER_PARTIES: parties.operator });
const ofDatabase = () => ({ OFFLEDGER_DATABASE_URL: databaseUrl });

type Env = Readonly<Record<string, string>>;
const start = (command: string, env: Env): Program => startProgram([command], { OFFLEDGER_PORT: "0", ...env });
const atTerminal = (command: string, env: Env): Program => startAtTerminal([command], { OFFLEDGER_PORT: "0", ...env });

/** What `offledger check` prints after its first paragraph, for the contracts of the participant. */
async function checked(): Promise<string> {
  const { out } = await start("check", ofLedger()).ended();
  const [, inventory = ""] = /^.* can be served: .*\n\n([^]+)\n$/.exec(out) ?? [];
  expect(inventory).toMatch(/^registrar registrar::1220\n {2}instrument USD /);
  expect(inventory).toContain("\nwarning: holding-missing (61)\n");
  expect(inventory).toContain("\nwarning: configuration-missing (1)\n");
  expect(inventory).toContain("\n  … and 51 more");
  return `${inventory}\n`;
}

/** Waits for the whole inventory, and returns what was printed before and with it. */
async function printed(program: Program): Promise<{ readonly head: string; readonly inventory: string }> {
  await program.printed(/Try:\n {2}curl '.*'\n/);
  const [, head = "", inventory = ""] = /^([^]*?\/readyz\n)\n([^]*?\n)\nAPI documentation:/.exec(program.out) ?? [];
  return { head, inventory };
}

const times = ({ out }: Program): number => out.split("registrar registrar::1220\n").length - 1;

describe("a mirrored ledger", () => {
  test("that is not ready at the start: once, in the words of offledger check, and not again after a cut", async () => {
    const expected = await checked();
    participant.faults.hangUp({ times: 1_000_000 });
    const program = atTerminal("serve", ofLedger());
    await program.printed("/readyz\n");
    await until("the ledger has refused", () => program.err.includes("hang up") || program.err.includes("lost"));
    expect(program.out).toMatch(/\n\nNot ready yet: .*; see http:\S+\/readyz\n$/);
    participant.faults.clear();

    const { head, inventory } = await printed(program);
    expect(head).toMatch(/^offledger follows http:\S+ and listens at http:\S+\n\nNot ready yet: .*\n$/);
    expect(inventory).toBe(expected);

    await until("it follows the updates", () => participant.streams === 1);
    const streams = () => participant.requests.filter(({ path }) => path === "/v2/updates").length;
    const opened = streams();
    participant.faults.cut({ streams: "open" });
    await until("it follows the updates again", () => streams() > opened && participant.streams === 1);
    await becomesReady(await listening(program));
    expect(times(program)).toBe(1);
  });

  test("that is never ready: nothing, and it stops at once", async () => {
    participant.faults.hangUp({ times: 1_000_000 });
    const program = start("serve", ofLedger());
    await program.listens();
    program.stop();
    expect(await program.ended()).toMatchObject({ code: 0, out: "" });
  });
});

test.each([
  ["serve", false],
  ["serve", true],
  ["api", true],
])("parties that see nothing are logged once by %s, with a database: %s", async (command, hasDatabase) => {
  const env = { ...ofLedger(), OFFLEDGER_LEDGER_PARTIES: "stranger::1220" };
  if (hasDatabase) await start("migrate", ofDatabase()).ended();
  const mirror = command === "api" ? start("mirror", { ...env, ...ofDatabase() }) : undefined;
  const program = start(command, { ...env, ...(hasDatabase && ofDatabase()) });
  const none = /"msg":"OFFLEDGER_LEDGER_PARTIES: no contract of the registry is visible to stranger::1220\./g;
  await until("it is logged", () => program.err.search(none) !== -1);
  for (const one of [program, mirror]) one?.stop();
  expect((await program.ended()).err.match(none)).toHaveLength(1);
  // It holds no contracts that it could look at.
  expect((await mirror?.ended())?.err ?? "").not.toMatch(none);
});

describe("a database", () => {
  test("of one process: as offledger check", async () => {
    const expected = await checked();
    const program = atTerminal("serve", { ...ofLedger(), ...ofDatabase() });
    expect((await printed(program)).inventory).toBe(expected);
  });

  test("that a mirror fills later: a replica prints it, the mirror does not", async () => {
    const expected = await checked();
    await start("migrate", ofDatabase()).ended();
    const replica = atTerminal("api", ofDatabase());
    await replica.printed(/Not ready yet: .*\/readyz\n/);
    const mirror = start("mirror", { ...ofLedger(), ...ofDatabase() });
    const { head, inventory } = await printed(replica);
    expect(head).toMatch(/^offledger follows postgres:\S+ and listens at http:\S+\n\nNot ready yet: .*\n$/);
    expect(inventory).toBe(expected);
    await becomesReady(await listening(mirror));
    mirror.stop();
    await mirror.ended();
    expect(times(mirror)).toBe(0);

    // It is ready at its start, because the database is full.
    const second = atTerminal("api", ofDatabase());
    expect((await printed(second)).inventory).toBe(expected);
  });
});
