import { expect, test } from "vitest";
import type { Logger } from "../../../src/util/logger.js";
import { LedgerError, type LedgerErrorKind } from "../../../src/ledger/participant/errors.js";
import { IncidentLog } from "../../../src/ingest/incidents.js";

interface Line {
  readonly level: keyof Logger;
  readonly details: object;
  readonly message: string;
}

function createLog() {
  const lines: Line[] = [];
  const clock = { now: 1_000 };
  const at = (level: keyof Logger) => (details: object, message: string) =>
    void lines.push({ level, details, message });
  const log: Logger = { info: at("info"), warn: at("warn"), error: at("error") };
  return { lines, clock, incidentLog: new IncidentLog(log, () => clock.now) };
}

const lost = new LedgerError("lost", "cut");

test("a continuing incident is logged once", () => {
  const { lines, incidentLog } = createLog();
  for (let attempt = 0; attempt < 100; attempt++) incidentLog.begin(new LedgerError("lost", `cut ${attempt}`));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ level: "warn", details: { kind: "lost", reason: "cut 0" } });
});

test("its end is logged once with its duration, and not without an incident", () => {
  const { lines, clock, incidentLog } = createLog();
  incidentLog.end();
  expect(lines).toEqual([]);
  incidentLog.begin(lost);
  clock.now += 5_000;
  incidentLog.end();
  incidentLog.end();
  expect(lines.slice(1)).toEqual([
    { level: "info", details: { lasted: 5_000 }, message: "following the ledger again" },
  ]);
});

test("another failure within an incident is logged, and the duration counts from the first", () => {
  const { lines, clock, incidentLog } = createLog();
  incidentLog.begin(lost);
  clock.now += 1_000;
  incidentLog.begin(new LedgerError("denied", "no", "SECURITY"));
  clock.now += 1_000;
  incidentLog.end();
  expect(lines.map(({ level }) => level)).toEqual(["warn", "error", "info"]);
  expect(lines[1]?.details).toMatchObject({ kind: "denied", code: "SECURITY" });
  expect(lines[2]?.details).toEqual({ lasted: 2_000 });
});

test("the same kind with another code is logged", () => {
  const { lines, incidentLog } = createLog();
  incidentLog.begin(new LedgerError("ahead", "x", "OFFSET_AFTER_LEDGER_END"));
  incidentLog.begin(new LedgerError("ahead", "x", "PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END"));
  expect(lines).toHaveLength(2);
});

test("an incident that goes on is described with its latest reason", () => {
  const { incidentLog } = createLog();
  expect(incidentLog.description).toBeUndefined();
  incidentLog.begin(lost);
  incidentLog.begin(new LedgerError("lost", "refused"));
  expect(incidentLog.description).toBe("the connection to the participant was lost (refused)");
  incidentLog.end();
  expect(incidentLog.description).toBeUndefined();
});

test("a token that is not accepted and a right that is missing are told apart", () => {
  const { lines, incidentLog } = createLog();
  incidentLog.begin(new LedgerError("denied", "status 401"));
  incidentLog.begin(new LedgerError("denied", "status 403", undefined, { isForbidden: true }));
  expect(incidentLog.description).toContain("(status 403)");
  const [first, second] = lines.map(({ message, details }) => `${message} ${JSON.stringify(details)}`);
  expect(first).toContain("does not accept the credentials");
  expect(second).toContain("may not read as the configured parties");
  expect(second).toContain("OFFLEDGER_LEDGER_PARTIES");
});

test("after its end the same failure is logged again", () => {
  const { lines, incidentLog } = createLog();
  incidentLog.begin(lost);
  incidentLog.end();
  incidentLog.begin(lost);
  expect(lines.map(({ level }) => level)).toEqual(["warn", "info", "warn"]);
});

test.each<[LedgerErrorKind, keyof Logger]>([
  ["pruned", "warn"],
  ["ahead", "error"],
  ["denied", "error"],
  ["busy", "warn"],
  ["internal", "error"],
  ["lost", "warn"],
  ["unreadable", "error"],
  ["incomplete", "error"],
  ["refused", "error"],
])("%s is logged at level %s with its meaning and a hint", (kind, level) => {
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
