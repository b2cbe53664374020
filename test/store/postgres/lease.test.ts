/** One process writes, and when it is gone another does; src/store/postgres/write/lease.ts. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Database } from "../../../src/store/postgres/database.js";
import { DatabaseError } from "../../../src/store/postgres/errors.js";
import { Lease, type LeadershipTerm } from "../../../src/store/postgres/write/lease.js";
import { PostgresWriter } from "../../../src/store/postgres/write/postgres-writer.js";
import { networkTo } from "../../fixtures/frozen-network.js";
import { fruit } from "../../fixtures/fruits.js";
import { freshSchema, type Schema } from "../../fixtures/postgres-store.js";
import { gate, until, within } from "../../fixtures/wait.js";
import type { Said } from "./holder.js";

/** Longest that the lease may be nobody's, in milliseconds. */
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

/** The sessions that have the lease. */
const holders = () =>
  schema.sql<{ pid: number }>(
    `SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
     WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.granted`,
  );

function leaseOn(database = schema.database, onStandby = () => {}): Lease {
  const { signal } = end;
  const pause = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined);
  return new Lease({ database, pause, signal, onStandby });
}

const over = ({ signal }: LeadershipTerm): Promise<unknown> =>
  signal.aborted ? Promise.resolve() : once(signal, "abort");

interface Holding {
  /** The epoch of the term, when it begins. */
  readonly begun: Promise<number>;
  /** Settles with what the lease said, undefined where it threw nothing. */
  readonly ended: Promise<unknown>;
}

/** Tries for the lease, and keeps it until the term ends. */
function holding(lease = leaseOn(), run: (term: LeadershipTerm) => Promise<unknown> = over): Holding {
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
  return { begun: begun.opened.then(() => epochs[0] ?? Number.NaN), ended };
}

const writerOf = (epoch: number) =>
  PostgresWriter.begin(schema.database, epoch, { contentId: "tests", origin: "tests" }, () => {});

async function far(): Promise<{ freeze: () => void; database: Database }> {
  const network = await networkTo(schema.url);
  const database = new Database(network.url, 2);
  onTestFinished(async () => {
    await network.close();
    await database.close();
  });
  return { freeze: () => network.freeze(), database };
}

/** For how many seconds the store is known to have been behind the ledger. */
const noted = async () => {
  const [row] = await schema.sql<{ age: number | null }>(
    "SELECT extract(epoch FROM clock_timestamp() - confirmed_at)::float8 AS age FROM offledger.state",
  );
  return row?.age ?? undefined;
};

describe("of several that try for the lease", () => {
  test("one at a time has it, each in an epoch of its own, behind those before", async () => {
    const epochs: number[] = [];
    let [now, most] = [0, 0];
    const terms = Array.from({ length: 4 }, () =>
      holding(leaseOn(), async ({ epoch }) => {
        most = Math.max(most, ++now);
        epochs.push(epoch);
        await delay(50);
        now--;
      }),
    );
    expect(await within(20_000, "all have had it", Promise.all(terms.map(({ ended }) => ended)))).toEqual(
      Array(4).fill(undefined),
    );
    expect(most).toBe(1);
    expect(epochs).toEqual([1, 2, 3, 4]);
  });

  test("those who wait are told that another has it, each once", async () => {
    const told: string[] = [];
    const first = holding(leaseOn(schema.database, () => told.push("first")));
    await first.begun;
    const second = holding(leaseOn(schema.database, () => told.push("second")));
    await until("the second is told", () => told.length > 0);
    await delay(1_200);
    end.abort();
    expect(await Promise.all([first.ended, second.ended])).toEqual([undefined, undefined]);
    expect(told).toEqual(["second"]);
  });
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

  test("ends when a later epoch has begun, and not before what it runs has ended", async () => {
    const log: string[] = [];
    const { begun, ended } = holding(leaseOn(), async (term) => {
      await over(term);
      await delay(300);
      log.push("what it ran has ended");
    });
    await begun;
    await schema.sql("UPDATE offledger.state SET epoch = epoch + 1");
    const failure = await within(HANDOVER_MS, "it has ended", ended);
    expect(failure).toBeInstanceOf(DatabaseError);
    expect(failure).toMatchObject({ kind: "lost" });
    expect(log).toEqual(["what it ran has ended"]);
  });

  test("ends with an error of what it runs, and leaves the lease free", async () => {
    const failing = holding(leaseOn(), () => Promise.reject(new DatabaseError("defect", "of the term")));
    expect(await within(HANDOVER_MS, "it has ended", failing.ended)).toMatchObject({ message: "of the term" });
    expect(await within(HANDOVER_MS, "the next has it", holding().begun)).toBe(2);
  });

  test("notes when the store last equalled the ledger, once that is known", async () => {
    let age: number | undefined;
    const { begun } = holding(leaseOn(), (term) => {
      term.age = () => age;
      return over(term);
    });
    await begun;
    await delay(1_200);
    expect(await noted()).toBeUndefined();
    age = 60_000;
    await until("it is noted", async () => (await noted()) !== undefined);
    expect(await noted()).toBeGreaterThanOrEqual(60);
    expect(await noted()).toBeLessThan(90);
  });

  test("hears the questions of other processes", async () => {
    const asked: string[] = [];
    const { begun } = holding(leaseOn(), (term) => {
      term.onCatchUpRequest = (question) => asked.push(question);
      return over(term);
    });
    await begun;
    await until("the question is heard", async () => {
      await schema.sql("SELECT pg_notify('offledger_catch_up_requested', 'what about now?')");
      return asked.length > 0;
    });
    expect(asked[0]).toBe("what about now?");
  });
});

describe("a process that has the lease", () => {
  const file = fileURLToPath(new URL("holder.ts", import.meta.url));

  /** One that has it by now, in the first epoch; it ends with the test at the latest. */
  async function holder(): Promise<{ child: ChildProcess; said: Said[] }> {
    const child = fork(file, [schema.url], { execArgv: ["--import", "tsx"] });
    const ended = once(child, "exit");
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await ended;
    });
    const said: Said[] = [];
    child.on("message", (one) => said.push(one as Said));
    await until("it has the lease", () => said.length > 0, 20_000);
    expect(said).toEqual([{ holds: 1 }]);
    return { child, said };
  }

  test("loses it when it ends", async () => {
    const { child } = await holder();
    const next = holding();
    child.kill("SIGKILL");
    expect(await within(HANDOVER_MS, "the next has it", next.begun)).toBe(2);
  });

  test("loses it when it falls silent, and does not write when it comes back", async () => {
    await (await writerOf(0)).replace([fruit("a")], 10);
    const { child, said } = await holder();
    child.send("written-in-time");
    await until("it has written", () => said.length > 1);
    expect(said.at(-1)).toEqual({ wrote: "done", lost: 0 });
    const next = holding();
    child.kill("SIGSTOP");
    const epoch = await within(HANDOVER_MS, "the next has it", next.begun);
    expect(epoch).toBe(2);
    const writer = await writerOf(epoch);
    expect(writer.checkpoint?.offset).toBe(11);
    child.send("too-late");
    child.send("much-too-late");
    child.kill("SIGCONT");
    await until("it knows that its term is over", () => said.length === 5);
    const wrote = said.filter((one) => "wrote" in one).slice(1);
    expect(wrote).toEqual(["lost", "lost"].map((trouble) => ({ wrote: trouble, lost: 1 })));
    await writer.apply([{ active: fruit("of-the-next") }], 12);
    const ids = await schema.sql("SELECT contract_id AS id FROM offledger.contracts ORDER BY id");
    expect(ids).toEqual([{ id: "a" }, { id: "of-the-next" }, { id: "written-in-time" }]);
  });
});

describe("where the network falls silent", () => {
  test("the one that has the lease ends its term, and another gets it", async () => {
    const { freeze, database } = await far();
    const first = holding(leaseOn(database));
    await first.begun;
    const next = holding();
    freeze();
    expect(await within(HANDOVER_MS, "the next has it", next.begun)).toBe(2);
    // An answer and an end are waited for, for three seconds each.
    expect(await within(10_000, "the first has ended", first.ended)).toMatchObject({ kind: "unavailable" });
  });

  test("the one that waits for it gives up, and can try anew", async () => {
    const { freeze, database } = await far();
    await holding().begun;
    const told = gate();
    const waiting = holding(leaseOn(database, () => told.open()));
    await told.opened;
    freeze();
    expect(await within(10_000, "it has given up", waiting.ended)).toMatchObject({ kind: "unavailable" });
  });
});
