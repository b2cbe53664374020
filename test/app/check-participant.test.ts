/** A check of a participant is bounded in time, and every failure of the participant is one error. */
import { expect, onTestFinished, test } from "vitest";
import { checkParticipant, participantFailure } from "../../src/cli/check.js";
import { LedgerError, type LedgerErrorKind } from "../../src/ledger/participant/errors.js";
import { play } from "../scripted-participant/elements.js";
import { refusal, type Refusal } from "../scripted-participant/errors.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant } from "../scripted-participant/participant.js";
import { parties } from "../fixtures/elements.js";
import { completeElements } from "../fixtures/operation-calls.js";
import { quiet } from "../fixtures/run-service.js";

const NOW = Date.parse("2026-06-01T00:00:00Z");

async function participantWith(stakeholders: readonly string[] = [parties.operator]): Promise<Participant> {
  const ledger = new ScriptedLedger();
  play(ledger, completeElements(), { stakeholders });
  const participant = await Participant.start({ ledger });
  onTestFinished(() => participant.stop());
  return participant;
}

const check = ({ url }: Participant, limits?: Parameters<typeof checkParticipant>[2], more = {}) =>
  checkParticipant({ ...quiet(), ledgerUrl: new URL(url), ledgerParties: [parties.operator], ...more }, NOW, limits);

async function failure(result: Promise<unknown>): Promise<LedgerError> {
  const error: unknown = await result.then(
    () => new Error("it did not fail"),
    (reason: unknown) => reason,
  );
  if (error instanceof LedgerError) return error;
  throw error;
}

test("reads the active contracts at the ledger end", async () => {
  const participant = await participantWith();
  const { name, snapshot, inventory } = await check(participant);
  expect(name).toBe(`${participant.url}/`);
  expect(snapshot.offset).toBe(participant.ledger.end);
  expect(snapshot.contracts).toHaveLength(completeElements().length);
  expect(inventory.registrars.map(({ party }) => party)).toEqual([parties.registrar]);
});

test("reads for the configured parties only, and warns if they see nothing", async () => {
  const { snapshot, inventory } = await check(await participantWith(), undefined, {
    ledgerParties: ["stranger::1220", "other::1220"],
  });
  expect(snapshot.contracts).toEqual([]);
  expect(inventory.warnings).toEqual([
    expect.stringMatching(/^OFFLEDGER_LEDGER_PARTIES: no contract .* is visible to stranger::1220, other::1220\./),
  ]);
});

test.each([
  [[parties.operator], 0],
  [[parties.registrar, parties.operator], 0],
  [[parties.registrar, parties.provider], 1],
])("parties %j, of which the operator sees all: %i warnings", async (ledgerParties, count) => {
  const participant = await participantWith([parties.operator, parties.registrar, parties.provider]);
  const { snapshot, inventory } = await check(participant, undefined, { ledgerParties });
  expect(snapshot.contracts).toHaveLength(completeElements().length);
  expect(inventory.warnings).toEqual(
    Array.from(
      { length: count },
      () =>
        expect.stringMatching(
          /none of registrar::1220, provider::1220 is the operator of .*, which is operator::1220\. /,
        ) as unknown,
    ),
  );
});

test("ends after the total time, whatever the participant does", async () => {
  const participant = await participantWith();
  participant.faults.delay(100, { path: "/v2/state/active-contracts" });
  const { kind, message } = await failure(check(participant, { total: 300 }));
  expect(kind).toBe("lost");
  expect(message).toBe("it has not sent all active contracts within 0.3 s");
});

test("ends when the participant is silent", async () => {
  const participant = await participantWith();
  participant.faults.silence({ after: 2 });
  const { kind, message } = await failure(check(participant, { total: 60_000, timeouts: { ping: 50, message: 200 } }));
  expect(kind).toBe("lost");
  expect(message).toContain("timeout");
});

test.each([
  ["SERVER_IS_SHUTTING_DOWN", "busy"],
  ["PARTICIPANT_PRUNED_DATA_ACCESSED", "pruned"],
] as const)("an error %s of the stream is %s", async (code, kind) => {
  const participant = await participantWith();
  participant.faults.error(code);
  const error = await failure(check(participant));
  expect(error.kind).toBe(kind);
  expect(error.message).toContain(code);
});

test("a message that is not JSON is unreadable", async () => {
  const participant = await participantWith();
  participant.faults.halfJson({ after: 1 });
  expect((await failure(check(participant))).kind).toBe("unreadable");
});

test("nothing stays open", async () => {
  const participant = await participantWith();
  await check(participant);
  await expect.poll(() => participant.streams).toBe(0);
});

test.each<[string, Refusal, LedgerErrorKind, number]>([
  ["too many streams", refusal("MAXIMUM_NUMBER_OF_STREAMS", "retry later"), "busy", 1],
  ["an internal error", refusal("LEDGER_API_INTERNAL_ERROR", "broken"), "internal", 1],
  ["backpressure", refusal("PARTICIPANT_BACKPRESSURE", "busy"), "busy", 1],
  ["a shutdown", refusal("SERVER_IS_SHUTTING_DOWN", "bye"), "busy", 1],
  ["no rights", refusal("PERMISSION_DENIED", "no"), "denied", 2],
  ["no package", refusal("PACKAGE_NAMES_NOT_FOUND", "names: [a]"), "incomplete", 2],
  ["a wrong request", refusal("INVALID_ARGUMENT", "no"), "refused", 2],
])("%s is no wrong setting unless it is one", async (_what, error, kind, exitCode) => {
  const participant = await participantWith();
  participant.faults.error(error, { path: "/v2/state/active-contracts" });
  const reason = await failure(check(participant));
  expect(reason.kind).toBe(kind);
  expect(participantFailure(new URL(participant.url), reason).exitCode).toBe(exitCode);
});
