/** What `offledger check` and the start say of a registry; a check of a participant, which is bounded in time. */
import { describe, expect, onTestFinished, test } from "vitest";
import { checkParticipant, checkSnapshot, formatSnapshotCheck, participantFailure } from "../../src/cli/check.js";
import { formatStart } from "../../src/cli/serve.js";
import { LedgerError, type LedgerErrorKind } from "../../src/ledger/participant/errors.js";
import { describeWarning, type Warning } from "../../src/registry/sdk/warnings.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { snapshotFile, temporaryFile } from "../fixtures/files.js";
import { completeElements } from "../fixtures/operation-calls.js";
import { quiet } from "../fixtures/run-service.js";
import { play } from "../scripted-participant/elements.js";
import { refusal } from "../scripted-participant/errors.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant, type ParticipantOptions } from "../scripted-participant/participant.js";
import { Tokens } from "../scripted-participant/tokens.js";
import { start } from "../telemetry/starting.js";

const NOW = Date.parse("2026-06-01T00:00:00Z");

/** The lines `warning: kind (count)`, and `information: kind (count)`. */
const headersIn = (text: string): string[] =>
  text.split("\n").filter((line) => /^(?:warning|information): /.test(line));

/** Missing offers, of which `gone-0` is the first. */
const offers = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    element("TransferOffer", `offer-${index}`, payload.offer("alice", "bob", "USD", `gone-${index}`)),
  );

describe("the text for a file", () => {
  async function textFor(elements: readonly object[], config = {}): Promise<string> {
    const content = elements.map((one) => `${JSON.stringify(one)}\n`).join("");
    const { snapshot, inventory } = await checkSnapshot({ ...quiet(), ...config }, [content], NOW);
    return formatSnapshotCheck("a.ndjson", snapshot, inventory);
  }

  test("has ten warnings of a kind, and how many more there are", async () => {
    const text = await textFor(completeElements({ added: offers(1_200) }));
    expect(headersIn(text)).toEqual(["warning: holding-missing (1200)"]);
    expect(text.match(/^ {2}the locked holding gone-/gm)).toHaveLength(10);
    expect(text).toContain("\n  … and 1190 more\n");
  });

  test.each([
    [29, ["warning: credential-expires (1)"]],
    [31, []],
  ])("of a credential that ends in %i days", async (days, expected) => {
    const validUntil = new Date(NOW + days * 86_400_000).toISOString();
    const bob = element("Credential", "bob-holds", payload.credential("bob", ["holds=USD"], { validUntil }));
    expect(headersIn(await textFor(completeElements({ registry: { bob } })))).toEqual(expected);
  });
});

describe("the text of a start", () => {
  test.each([
    [20, "warning: holding-missing (20)\n", 0],
    // Of 1,500 and the offer of the complete registry.
    [1_500, "\n501 more contracts are not checked here: see offledger check\n", 501],
  ])("with %i offers: 1,000 contracts of each template are checked", async (count, expected, unchecked) => {
    const app = await start({ snapshot: await snapshotFile(...completeElements({ added: offers(count) })) });
    const text = formatStart(app);
    expect(text).toContain(expected);
    expect(text.match(/the locked holding gone-/g)).toHaveLength(10);
    expect(app.inventory?.unchecked).toBe(unchecked);
  });
});

async function participantWith(
  stakeholders: readonly string[] = [parties.operator],
  options?: ParticipantOptions,
): Promise<Participant> {
  const ledger = new ScriptedLedger();
  play(ledger, completeElements(), { stakeholders });
  const participant = await Participant.start({ ledger, ...options });
  onTestFinished(() => participant.stop());
  return participant;
}

const check = ({ url }: Participant, more = {}, limits?: Parameters<typeof checkParticipant>[2]) =>
  checkParticipant({ ...quiet(), ledgerUrl: new URL(url), ledgerParties: [parties.operator], ...more }, NOW, limits);

/** The error of a check, and its exit code. */
async function failureOf(participant: Participant, ...more: [object?, Parameters<typeof checkParticipant>[2]?]) {
  const error: unknown = await check(participant, ...more).catch((thrown: unknown) => thrown);
  if (!(error instanceof LedgerError)) throw new Error("no error of the ledger", { cause: error });
  const { message, exitCode } = participantFailure(new URL(participant.url), error);
  expect(message).toBe(`OFFLEDGER_LEDGER_URL: the participant at ${participant.url}/ cannot be read: ${error.message}`);
  return { kind: error.kind, message: error.message, exitCode };
}

const textOf = (warning: Warning | string) => (typeof warning === "string" ? warning : describeWarning(warning));

describe("a participant", () => {
  test("is asked once for the active contracts at the ledger's end", async () => {
    const participant = await participantWith();
    const { name, snapshot, inventory } = await check(participant);
    expect(name).toBe(`${participant.url}/`);
    expect(snapshot.offset).toBe(participant.ledger.end);
    expect(snapshot.contracts).toHaveLength(completeElements().length);
    expect(inventory.registrars.map(({ party }) => party)).toEqual([parties.registrar]);
    const paths = participant.requests.map(({ path }) => path);
    expect(paths).toEqual(["/v2/state/ledger-end", "/v2/state/active-contracts"]);
    await expect.poll(() => participant.streams).toBe(0);
  });

  const notOperator =
    /none of registrar::1220, provider::1220 is the operator of .*, which is operator::1220\. Transfer preapprovals/;
  test.each([
    [[parties.operator], []],
    [[parties.registrar, parties.operator], []],
    [[parties.registrar, parties.provider], [expect.stringMatching(notOperator)]],
  ])("parties %j, of which the operator sees all: warnings %j", async (ledgerParties, warnings) => {
    const participant = await participantWith([parties.operator, parties.registrar, parties.provider]);
    const { snapshot, inventory } = await check(participant, { ledgerParties });
    expect(snapshot.contracts).toHaveLength(completeElements().length);
    expect(inventory.warnings.map(textOf)).toEqual(warnings);
  });

  test("is read for the configured parties only, and there is a warning if they see nothing", async () => {
    const { snapshot, inventory } = await check(await participantWith(), { ledgerParties: ["a::1220", "b::1220"] });
    expect(snapshot.contracts).toEqual([]);
    expect(inventory.warnings.map(textOf)).toEqual([
      expect.stringMatching(/^OFFLEDGER_LEDGER_PARTIES: no contract .* is visible to a::1220, b::1220\./),
    ]);
  });

  test("is given up after the total time, or when it is silent", async () => {
    const slow = await participantWith();
    slow.faults.delay(100, { path: "/v2/state/active-contracts" });
    const message = "it has not sent all active contracts within 0.3 s";
    expect(await failureOf(slow, {}, { total: 300 })).toEqual({ kind: "lost", message, exitCode: 1 });
    const silent = await participantWith();
    silent.faults.silence({ after: 2 });
    const failure = await failureOf(silent, {}, { total: 60_000, timeouts: { ping: 50, message: 200 } });
    expect(failure).toEqual({ kind: "lost", message: expect.stringContaining("timeout"), exitCode: 1 });
  });

  type Fail = (participant: Participant) => void;
  test.each<[string, Fail, LedgerErrorKind, number, string]>([
    ["is busy", ({ faults }) => faults.error("SERVER_IS_SHUTTING_DOWN"), "busy", 1, "SERVER_IS_SHUTTING_DOWN"],
    ["is pruned", ({ faults }) => faults.error("PARTICIPANT_PRUNED_DATA_ACCESSED"), "pruned", 1, "PRUNED"],
    ["sends half a message", ({ faults }) => faults.halfJson({ after: 1 }), "unreadable", 1, "JSON"],
    ["cuts the stream", ({ faults }) => faults.cut({ after: 3 }), "lost", 1, "the stream "],
    ...(
      [
        ["LEDGER_API_INTERNAL_ERROR", "internal", 1, "why"],
        ["PERMISSION_DENIED", "denied", 2, "A security-sensitive error has been received"],
        ["INVALID_ARGUMENT", "refused", 2, "why"],
      ] as const
    ).map(([code, kind, exitCode, says]): [string, Fail, LedgerErrorKind, number, string] => [
      `refuses: ${code}`,
      ({ faults }) => faults.error(refusal(code, "why"), { path: "/v2/state/active-contracts" }),
      kind,
      exitCode,
      says,
    ]),
  ])("that %s", async (_what, fail, kind, exitCode, says) => {
    const participant = await participantWith();
    fail(participant);
    expect(await failureOf(participant)).toEqual({ kind, exitCode, message: expect.stringContaining(says) });
  });

  test("that does not know a package", async () => {
    const participant = await participantWith(undefined, { packageNames: ["utility-registry-v0"] });
    const message = expect.stringContaining("PACKAGE_NAMES_NOT_FOUND") as string;
    expect(await failureOf(participant)).toEqual({ kind: "incomplete", exitCode: 2, message });
  });

  test("that requires a token", async () => {
    const tokens = new Tokens();
    const participant = await participantWith(undefined, { tokens });
    const ledgerTokenFile = await temporaryFile("token", tokens.issue({ parties: [parties.operator] }));
    expect((await check(participant, { ledgerTokenFile })).snapshot.contracts).not.toEqual([]);
    const wrong = { ledgerTokenFile: await temporaryFile("token", "not-a-token-of-this-participant") };
    const failure = await failureOf(participant, wrong);
    expect(failure).toEqual({ kind: "denied", exitCode: 2, message: expect.stringContaining("401") });
    expect(failure.message).not.toContain("not-a-token");
  });
});
