/** Failures of the participant: what is logged, and when the mirror tries again. */
import { describe, expect, test } from "vitest";
import { IncidentLog, retryDelay } from "../../../src/ingest/incidents.js";
import { LedgerError, type LedgerErrorKind } from "../../../src/ledger/participant/errors.js";
import type { Logger } from "../../../src/util/logger.js";

function createLog(hasContracts = true, waits = false) {
  const lines: { readonly level: keyof Logger; readonly details: object; readonly message: string }[] = [];
  const clock = { now: 1_000 };
  const at = (level: keyof Logger) => (details: object, message: string) =>
    void lines.push({ level, details, message });
  const log: Logger = { info: at("info"), warn: at("warn"), error: at("error") };
  return {
    lines,
    clock,
    incidentLog: new IncidentLog(
      log,
      () => clock.now,
      () => hasContracts,
      waits,
    ),
  };
}

const lost = new LedgerError("lost", "cut");

test("an incident before the first contracts does not say that some are served", () => {
  const { lines, incidentLog } = createLog(false);
  incidentLog.begin(lost);
  expect(lines.map(({ message }) => message)).toEqual([
    "the connection to the participant was lost; no contracts were read yet",
  ]);
});

test("what is awaited is information until the first contracts", () => {
  const awaited = createLog(false, true);
  awaited.incidentLog.begin(lost);
  awaited.incidentLog.begin(new LedgerError("incomplete", "no packages"));
  expect(awaited.lines.map(({ level }) => level)).toEqual(["info", "info"]);
  const served = createLog(true, true);
  served.incidentLog.begin(lost);
  expect(served.lines.map(({ level }) => level)).toEqual(["warn"]);
});

test("an incident is logged once when it begins, and once when it ends, with its duration", () => {
  const { lines, clock, incidentLog } = createLog();
  incidentLog.end();
  expect([lines, incidentLog.description]).toEqual([[], undefined]);
  for (let attempt = 0; attempt < 100; attempt++) incidentLog.begin(new LedgerError("lost", `cut ${attempt}`));
  expect(lines).toMatchObject([{ level: "warn", details: { kind: "lost", reason: "cut 0" } }]);
  // With its latest reason.
  expect(incidentLog.description).toBe("the connection to the participant was lost (cut 99)");
  clock.now += 5_000;
  incidentLog.end();
  incidentLog.end();
  expect(lines.slice(1)).toEqual([
    { level: "info", details: { lasted: 5_000 }, message: "following the ledger again" },
  ]);
  expect(incidentLog.description).toBeUndefined();
  incidentLog.begin(lost);
  expect(lines).toHaveLength(3);
});

test("another failure within an incident, or the same with another code, is logged; the duration counts from the first", () => {
  const { lines, clock, incidentLog } = createLog();
  incidentLog.begin(lost);
  clock.now += 1_000;
  for (const code of ["OFFSET_AFTER_LEDGER_END", "PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END"])
    incidentLog.begin(new LedgerError("ahead", "x", code));
  clock.now += 1_000;
  incidentLog.end();
  expect(lines.map(({ level, details }) => [level, details])).toMatchObject([
    ["warn", { kind: "lost" }],
    ["error", { kind: "ahead", code: "OFFSET_AFTER_LEDGER_END" }],
    ["error", { kind: "ahead", code: "PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END" }],
    ["info", { lasted: 2_000 }],
  ]);
});

test("a token that is not accepted and a right that is missing are told apart", () => {
  const { lines, incidentLog } = createLog();
  incidentLog.begin(new LedgerError("denied", "status 401"));
  incidentLog.begin(new LedgerError("denied", "status 403", undefined, { isForbidden: true }));
  const [first, second] = lines.map(({ message, details }) => `${message} ${JSON.stringify(details)}`);
  expect(first).toContain("does not accept the credentials");
  expect(second).toMatch(/may not read as the configured parties.*OFFLEDGER_LEDGER_PARTIES/);
});

/** By kind: the level, and the longest delay after the first, the second and the 100th failure in a row. */
describe.each<[LedgerErrorKind, keyof Logger, readonly [number, number, number]]>([
  // The first retry with a new snapshot or token is immediate.
  ["pruned", "warn", [0, 200, 10_000]],
  ["ahead", "error", [0, 200, 10_000]],
  ["denied", "error", [0, 200, 60_000]],
  ["no-parties", "warn", [1_000, 2_000, 10_000]],
  ["withdrawn", "error", [100, 200, 10_000]],
  ["busy", "warn", [200, 400, 10_000]],
  ["internal", "error", [2_000, 4_000, 60_000]],
  ["lost", "warn", [100, 200, 10_000]],
  ["unreadable", "error", [500, 1_000, 30_000]],
  ["incomplete", "error", [1_000, 2_000, 60_000]],
  ["refused", "error", [1_000, 2_000, 60_000]],
])("%s", (kind, level, longest) => {
  test(`is logged at level ${level} with its meaning and a hint`, () => {
    const { lines, incidentLog } = createLog();
    incidentLog.begin(new LedgerError(kind, "the reason"));
    expect(lines).toEqual([
      {
        level,
        details: { kind, code: undefined, reason: "the reason", hint: expect.stringMatching(/\w{3}/) as string },
        message: expect.stringMatching(/\w{3}.*; contracts read before are still served$/) as string,
      },
    ]);
  });

  test("is retried after a time that doubles up to a bound, between half of it and all", () => {
    const failure = new LedgerError(kind, "of the test");
    for (const [random, share] of [
      [1, 1],
      [0, 0.5],
    ] as const) {
      const delays = [1, 2, 100].map((failures) => retryDelay(failure, failures, () => random));
      expect(delays).toEqual(longest.map((ms) => ms * share));
    }
  });
});

test("the participant is not asked again before it wants to be", () => {
  const busy = new LedgerError("busy", "of the test", "MAXIMUM_NUMBER_OF_STREAMS", { retryMs: 1_000 });
  expect([retryDelay(busy, 1, () => 0), retryDelay(busy, 100, () => 1)]).toEqual([1_000, 10_000]);
});
