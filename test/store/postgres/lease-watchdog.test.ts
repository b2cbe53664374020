/** A session of the lease on which nothing settles, and whose own timers are lost: the lease is tried again. */
import { EventEmitter } from "node:events";
import type { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Database, SESSION_TIMEOUT_MS } from "../../../src/store/postgres/database.js";
import { Lease, type LeadershipTerm } from "../../../src/store/postgres/write/lease.js";

const never = new Promise<never>(() => undefined);

/** Three times the timeout of a session. */
const LIMIT_MS = 3 * SESSION_TIMEOUT_MS;

let lines: string[];
const log = {
  info: () => undefined,
  warn: (_: object, message: string) => void lines.push(message),
  error: () => undefined,
};

beforeEach(() => {
  lines = [];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const set = globalThis.setTimeout;
  // The timers of sessions are lost.
  vi.stubGlobal("setTimeout", (callback: (...args: unknown[]) => void, ms: number, ...args: unknown[]) =>
    set(callback, ms === SESSION_TIMEOUT_MS ? 2 ** 31 - 1 : ms, ...args),
  );
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A session that acquires the lease, apart from statements with the given text, which are never answered. */
class Session extends EventEmitter {
  readonly #unanswered: string;
  #sent = 0;

  /** `after` is how many of the matching statements are answered. */
  constructor(
    unanswered: string,
    readonly after = 0,
  ) {
    super();
    this.#unanswered = unanswered;
  }

  query(statement: string | { readonly text: string }): Promise<unknown> {
    const text = typeof statement === "string" ? statement : statement.text;
    if (text.includes(this.#unanswered) && this.#sent++ >= this.after) return never;
    return Promise.resolve({ rows: [{ acquired: true, epoch: "1" }], rowCount: 1 });
  }

  end(): Promise<void> {
    return Promise.resolve();
  }
}

const databaseOf = (open: () => Promise<unknown>) => ({ openSession: () => open() as Promise<Client> }) as Database;

const over = ({ signal }: LeadershipTerm): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));

const pause = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

/** Runs one attempt for at most a minute. Returns its error, and how long it took. */
async function attempt(open: () => Promise<unknown>, run = over): Promise<{ failure: unknown; took: number }> {
  const options = { pause, signal: new AbortController().signal, log, onStandby: () => undefined };
  let failure: unknown = "none yet";
  const held = new Lease({ ...options, database: databaseOf(open) }).hold(run).then(
    () => (failure = undefined),
    (error: unknown) => (failure = error),
  );
  let took = 0;
  for (; took < 60_000 && failure === "none yet"; took += 500) await vi.advanceTimersByTimeAsync(500);
  if (failure !== "none yet") await held;
  return { failure, took };
}

describe("an attempt ends although nothing settles", () => {
  test.each([
    ["the setup of the lease", "SET idle_session_timeout", 0],
    ["the acquisition of the lease", "pg_try_advisory_lock", 0],
    ["the acquisition of the lease", "epoch + 1", 0],
    ["the acquisition of the lease", "LISTEN", 0],
    ["the heartbeat of the lease", "confirmed_at", 0],
    ["the heartbeat of the lease", "confirmed_at", 2],
  ])("%s (%s, after %i)", async (step, text, after) => {
    const { failure, took } = await attempt(() => Promise.resolve(new Session(text, after)));
    const message = `${step} has not moved for ${LIMIT_MS / 1000} s`;
    expect(failure).toMatchObject({ kind: "unavailable", message: `the database cannot be reached: ${message}` });
    expect(lines).toEqual([`${message}; it is started again`]);
    expect(took).toBeLessThanOrEqual(LIMIT_MS + after * 1_000 + 500);
  });

  test("the session, which is ended when it opens after all", async () => {
    const session = new Session("nothing");
    const end = vi.spyOn(session, "end");
    const late = new Promise((resolve) => setTimeout(resolve, LIMIT_MS + 1_000, session));
    const { failure } = await attempt(() => late);
    expect(failure).toMatchObject({ kind: "unavailable" });
    expect(lines).toEqual([`the session of the lease has not moved for ${LIMIT_MS / 1000} s; it is started again`]);
    expect(end).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(end).toHaveBeenCalledTimes(1);
  });

  test("a writer, after the end of its term", async () => {
    const session = new Session("nothing");
    const { took } = await attempt(
      () => Promise.resolve(session),
      (term) => {
        setTimeout(() => term.end(), 5_000);
        return never;
      },
    );
    expect(lines).toEqual(["the end of a leadership term has not moved for 30 s; it is started again"]);
    expect(took).toBeGreaterThanOrEqual(35_000);
    expect(took).toBeLessThan(40_000);
  });
});
