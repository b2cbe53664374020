/** One process writes at a time; src/ingest/leadership.ts. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Database } from "../../../src/state/postgres/database.js";
import { DatabaseError } from "../../../src/state/postgres/errors.js";
import { Lease, type LeadershipTerm } from "../../../src/ingest/lease.js";
import { startCuttableProxy } from "../../fixtures/cuttable-proxy.js";
import { fruit } from "../../fixtures/fruits.js";
import { beginWriter, CONTENT, freshSchema, type Schema } from "../../fixtures/postgres-schema.js";
import { gate, MAX_WAIT_MS, until, within } from "../../fixtures/wait.js";
import type { Said } from "./holder.js";

/** The longest time without a leader. */
const HANDOVER_MS = 5_000;

let schema: Schema;
let end: AbortController;
beforeAll(async () => {
  schema = await freshSchema();
});
afterAll(() => schema.drop());
beforeEach(() => {
  end = new AbortController();
});
afterEach(async () => {
  end.abort();
  await until("the lease is free", async () => (await holders()).length === 0);
  await schema.empty();
});

/** Sessions that hold the lease. */
const holders = () =>
  schema.sql<{ pid: number }>(
    `SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
     WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.granted`,
  );

function leaseOn(database = schema.database, onStandby = () => {}): Lease {
  const { signal } = end;
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined);
  return new Lease({ database, contentId: CONTENT, pause, signal, onStandby });
}

const over = ({ signal }: LeadershipTerm): Promise<unknown> =>
  signal.aborted ? Promise.resolve() : once(signal, "abort");

/** Takes the lease and keeps it until the term ends. */
function holding(lease = leaseOn(), run: (term: LeadershipTerm) => Promise<unknown> = over) {
  const [begun, epochs] = [gate(), [] as number[]];
  const ended = lease
    .hold(async (term) => {
      epochs.push(term.epoch);
      begun.open();
      await run(term);
    })
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  /** `begun` resolves with the epoch, `ended` with the error of `hold`; undefined if there was none. */
  return { begun: begun.opened.then(() => epochs[0] ?? Number.NaN), ended };
}

/** The age in the database, in seconds. */
const storedAge = async () => {
  const [row] = await schema.sql<{ age: number | null }>(
    "SELECT extract(epoch FROM clock_timestamp() - confirmed_at)::float8 AS age FROM offledger.state",
  );
  return row?.age ?? undefined;
};

test("one of several processes at a time has the lease, each in a later epoch", async () => {
  const epochs: number[] = [];
  let [current, max] = [0, 0];
  const terms = Array.from({ length: 4 }, () =>
    holding(leaseOn(), async ({ epoch }) => {
      max = Math.max(max, ++current);
      epochs.push(epoch);
      await delay(50);
      current--;
    }),
  );
  const ended = await within(20_000, "all have had it", Promise.all(terms.map((one) => one.ended)));
  expect(ended).toEqual(Array(4).fill(undefined));
  expect([max, epochs]).toEqual([1, [1, 2, 3, 4]]);
});

test("one that waits is notified once that another has the lease", async () => {
  const notified: string[] = [];
  const first = holding(leaseOn(schema.database, () => notified.push("first")));
  await first.begun;
  const second = holding(leaseOn(schema.database, () => notified.push("second")));
  await until("the second is notified", () => notified.length > 0);
  // It asks for the lease twice a second.
  await delay(1_200);
  end.abort();
  expect(await Promise.all([first.ended, second.ended])).toEqual([undefined, undefined]);
  expect(notified).toEqual(["second"]);
});

describe("a term", () => {
  test("ends when its session is terminated, and another gets the lease", async () => {
    const first = holding();
    await first.begun;
    const second = holding();
    await schema.sql("SELECT pg_terminate_backend($1)", [(await holders())[0]?.pid]);
    await within(HANDOVER_MS, "the first has ended", first.ended);
    expect(await within(HANDOVER_MS, "the second has it", second.begun)).toBe(2);
  });

  test("ends when a later epoch has begun, after its task has ended", async () => {
    const log: string[] = [];
    const { begun, ended } = holding(leaseOn(), async (term) => {
      await over(term);
      await delay(300);
      log.push("task ended");
    });
    await begun;
    await schema.sql("UPDATE offledger.state SET epoch = epoch + 1");
    expect(await within(HANDOVER_MS, "it has ended", ended)).toMatchObject({ name: "DatabaseError", kind: "lost" });
    expect(log).toEqual(["task ended"]);
  });

  test("ends with the error of its task, and frees the lease", async () => {
    const failing = holding(leaseOn(), () => Promise.reject(new DatabaseError("defect", "of the term")));
    expect(await within(HANDOVER_MS, "it has ended", failing.ended)).toMatchObject({ message: "of the term" });
    expect(await within(HANDOVER_MS, "the next has it", holding().begun)).toBe(2);
  });

  test("stores the age once it is known", async () => {
    let age: number | undefined;
    const { begun } = holding(leaseOn(), (term) => {
      term.followed = { age: () => age, otherHistory: () => undefined };
      return over(term);
    });
    await begun;
    await delay(1_200);
    expect(await storedAge()).toBeUndefined();
    age = 60_000;
    await until("the age is stored", async () => (await storedAge()) !== undefined);
    expect(await storedAge()).toBeGreaterThanOrEqual(60);
    expect(await storedAge()).toBeLessThan(90);
  });
});

test("a leader process loses the lease when it freezes, and cannot write after it resumes", async () => {
  await (await beginWriter(schema.database)).replace([fruit("a")], 10);
  const file = fileURLToPath(new URL("holder.ts", import.meta.url));
  const child = fork(file, [schema.url], { execArgv: ["--import", "tsx"] });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const said: Said[] = [];
  child.on("message", (one) => said.push(one as Said));
  await until("it has the lease", () => said.length > 0);
  expect(said).toEqual([{ holds: 1 }]);
  child.send("written-in-time");
  await until("it has written", () => said.length > 1);
  expect(said.at(-1)).toEqual({ wrote: "done", lost: 0 });
  const next = holding();
  child.kill("SIGSTOP");
  expect(await within(HANDOVER_MS, "the next has it", next.begun)).toBe(2);
  const writer = await beginWriter(schema.database, { epoch: 2 });
  expect(writer.checkpoint?.offset).toBe(11);
  for (const late of ["too-late", "much-too-late"]) child.send(late);
  child.kill("SIGCONT");
  await until("it knows that its term is over", () => said.length === 5);
  const wrote = said.filter((one) => "wrote" in one).slice(1);
  expect(wrote).toEqual(["lost", "lost"].map((kind) => ({ wrote: kind, lost: 1 })));
  await writer.apply([{ active: fruit("of-the-next") }], 12);
  const ids = await schema.sql("SELECT contract_id AS id FROM offledger.log_contracts ORDER BY id");
  expect(ids).toEqual([{ id: "a" }, { id: "of-the-next" }, { id: "written-in-time" }]);
});

/** Behind a network that can freeze. */
async function remote(): Promise<{ freeze: () => void; database: Database }> {
  const network = await startCuttableProxy(schema.url);
  const database = new Database({ url: network.url, maxConnections: 2 });
  onTestFinished(async () => {
    await network.close();
    await database.close();
  });
  return { freeze: () => network.freeze(), database };
}

describe("when the network is cut", () => {
  test("the leader ends its term, and another process gets the lease", async () => {
    const { freeze, database } = await remote();
    const first = holding(leaseOn(database));
    await first.begun;
    const next = holding();
    freeze();
    expect(await within(HANDOVER_MS, "the next has it", next.begun)).toBe(2);
    // It waits 3 s for a response and 3 s for the session to end.
    expect(await within(MAX_WAIT_MS, "the first has ended", first.ended)).toMatchObject({ kind: "unavailable" });
  });

  test("a process on standby gives up and can try again", async () => {
    const { freeze, database } = await remote();
    await holding().begun;
    const standby = gate();
    const waiting = holding(leaseOn(database, () => standby.open()));
    await standby.opened;
    freeze();
    expect(await within(MAX_WAIT_MS, "it has given up", waiting.ended)).toMatchObject({ kind: "unavailable" });
  });
});
