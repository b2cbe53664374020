/** `offledger check` as a program: on a file, and on a participant. `npm test` builds it first. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { play } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant, type ParticipantOptions } from "../scripted-participant/participant.js";
import { Tokens } from "../scripted-participant/tokens.js";
import { type Defect, defectsAt } from "../fixtures/defects.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { completeElements } from "../fixtures/operation-calls.js";
import { type Ended, main, run as runProgram } from "../fixtures/program.js";

const defects = Object.entries(defectsAt(Date.now()));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "offledger-check-"));
});
afterAll(() => rm(folder, { recursive: true }));

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  runProgram(process.execPath, [main, "check", ...args], { cwd: folder, env });

async function write(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

const writeElements = (name: string, elements: readonly JsonObject[]): Promise<string> =>
  write(name, elements.map((one) => `${JSON.stringify(one)}\n`).join(""));

const contextsFlag = async ({ contexts }: Defect): Promise<string[]> =>
  contexts === undefined ? [] : ["--contexts", await write("contexts.yaml", contexts)];

async function participantWith(
  elements: readonly JsonObject[],
  options: ParticipantOptions = {},
): Promise<Participant> {
  const ledger = new ScriptedLedger();
  play(ledger, elements, { stakeholders: [parties.operator] });
  const participant = await Participant.start({ ledger, ...options });
  onTestFinished(() => participant.stop());
  return participant;
}

const ledgerFlags = (url: string): string[] => ["--ledger-url", url, "--ledger-parties", parties.operator];

/** The lines `warning: kind (count)`, and `information: kind (count)`. */
const headersIn = (out: string): string[] => out.split("\n").filter((line) => /^(?:warning|information): /.test(line));

const headerOf = (kind: string, count: number): string =>
  `${kind === "no-version-2" ? "information" : "warning"}: ${kind} (${count})`;

/** How an operation fails that is answered, by kind; the others fail on the ledger. */
const answeredBut: Readonly<Record<string, string>> = {
  "several-groups": "May fail on the ledger",
  "ambiguous-identifier": "Answered with the other instrument",
  "credential-expires": "Will fail on the ledger",
};

function expectWarnings({ code, out, err }: Ended, { warnings }: Defect): void {
  const needsAction = warnings.some(({ kind }) => kind !== "no-version-2");
  expect({ code, err }).toEqual({ code: needsAction ? 1 : 0, err: "" });
  const counts = new Map<string, number>();
  for (const { kind } of warnings) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  expect(headersIn(out).toSorted()).toEqual([...counts].map(([kind, count]) => headerOf(kind, count)).toSorted());
  const sentences = out.split("\n").filter((line) => line.startsWith("  ") && line.endsWith("."));
  for (const { says, operations, status, kind } of warnings) {
    const found = sentences.filter((sentence) => sentence.includes(says));
    const failure = status === undefined ? (answeredBut[kind] ?? "Fails on the ledger") : `Answered ${status}`;
    expect(
      found.some((sentence) => sentence.includes(failure) && operations.every((one) => sentence.includes(one))),
    ).toBe(true);
  }
}

describe("a file", () => {
  test.each(defects)("%s", async (_name, defect) => {
    const path = await writeElements("registry.ndjson", defect.elements);
    const result = await run(["--snapshot", path, ...(await contextsFlag(defect))]);
    expect(result.out.startsWith(`${path} can be served: ${defect.elements.length} contracts`)).toBe(true);
    expectWarnings(result, defect);
  });

  test("prints ten warnings of a kind, and how many more there are", async () => {
    const offers = Array.from({ length: 1_200 }, (_, index) =>
      element("TransferOffer", `offer-${index}`, payload.offer("alice", "bob", "USD", `gone-${index}`)),
    );
    const path = await writeElements("many.ndjson", completeElements({ added: offers }));
    const { code, out } = await run(["--snapshot", path]);
    expect(code).toBe(1);
    expect(headersIn(out)).toEqual(["warning: holding-missing (1200)"]);
    expect(out.match(/^ {2}transfer instruction offer-/gm)).toHaveLength(10);
    expect(out).toContain("\n  … and 1190 more\n");
  });

  test.each([
    ["40", 1],
    ["20", 0],
    ["0", 0],
  ])("OFFLEDGER_CREDENTIAL_DAYS=%s, with a credential that ends in 30 days", async (days, code) => {
    const validUntil = new Date(Date.now() + 30 * 86_400_000).toISOString();
    const bob = element("Credential", "bob-holds", payload.credential("bob", ["holds=USD"], { validUntil }));
    const path = await writeElements("credential.ndjson", completeElements({ registry: { bob } }));
    const result = await run(["--snapshot", path], { OFFLEDGER_CREDENTIAL_DAYS: days });
    expect(result.code).toBe(code);
    expect(headersIn(result.out)).toEqual(code === 1 ? ["warning: credential-expires (1)"] : []);
  });
});

describe("a participant", () => {
  test.each(defects)("%s", async (_name, defect) => {
    const participant = await participantWith(defect.elements);
    const result = await run([...ledgerFlags(participant.url), ...(await contextsFlag(defect))]);
    expect(result.out).toContain(
      `${participant.url}/ can be served: ${defect.elements.length} contracts at offset ${participant.ledger.end}\n`,
    );
    expectWarnings(result, defect);
    // It reads the contracts once, and opens no stream of updates.
    expect(participant.requests.map(({ path }) => path)).toEqual([
      "/v2/state/ledger-end",
      "/v2/state/active-contracts",
    ]);
  });

  test("with a token of a file", async () => {
    const tokens = new Tokens();
    const participant = await participantWith(completeElements(), { tokens });
    const token = await write("token", tokens.issue({ parties: [parties.operator] }));
    const { code, err } = await run([...ledgerFlags(participant.url), "--ledger-token-file", token]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });

  test("a wrong token ends with 2 and one message, which does not have it", async () => {
    const participant = await participantWith(completeElements(), { tokens: new Tokens() });
    const token = await write("token", "not-a-token-of-this-participant");
    const { code, out, err } = await run([...ledgerFlags(participant.url), "--ledger-token-file", token]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(
      new RegExp(`^offledger: OFFLEDGER_LEDGER_URL: the participant at ${participant.url} cannot be read: .*\\n$`),
    );
    expect(err).toContain("401");
    expect(err).not.toContain("not-a-token");
  });

  test("a package that the participant does not know ends with 2", async () => {
    const participant = await participantWith(completeElements(), { packageNames: ["utility-registry-v0"] });
    const { code, out, err } = await run(ledgerFlags(participant.url));
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("PACKAGE_NAMES_NOT_FOUND");
  });

  test("one that cannot be reached ends with 1", async () => {
    const participant = await participantWith([]);
    await participant.stop();
    const { code, out, err } = await run(ledgerFlags(participant.url));
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^offledger: OFFLEDGER_LEDGER_URL: the participant at \S+ cannot be read: .*ECONNREFUSED.*\n$/);
  });

  test("a stream that is cut ends with 1", async () => {
    const participant = await participantWith(completeElements());
    participant.faults.cut({ after: 3 });
    const { code, out, err } = await run(ledgerFlags(participant.url));
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/cannot be read: the stream (was cut|failed).*\n$/);
  });

  test("a certificate authority that cannot be read ends with 2, and names the setting", async () => {
    const participant = await participantWith([]);
    const { code, err } = await run([...ledgerFlags(participant.url), "--ledger-ca-file", join(folder, "nothing.pem")]);
    expect(code).toBe(2);
    expect(err).toContain("OFFLEDGER_LEDGER_CA_FILE must be the path of a readable PEM file: ENOENT");
  });

  test("contracts that cannot be read are listed, and end with 1", async () => {
    const wrong = Array.from({ length: 30 }, (_, index) =>
      element("TransferRule", `wrong-${index}`, { provider: "p" }),
    );
    const participant = await participantWith(completeElements({ added: wrong }));
    const { code, out, err } = await run(ledgerFlags(participant.url));
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out).toContain("\n30 contracts cannot be read, and are left out:\n  wrong-");
    const reason = /^ {2}wrong-\d+ of pkg-1:\S+:TransferRule: operator must not be empty or missing$/gm;
    expect(out.match(reason)).toHaveLength(20);
    expect(out).toContain("\n  … and 10 more\n");
  });

  test("an empty ledger is one of which the parties see nothing", async () => {
    const participant = await participantWith([]);
    const { code, out } = await run(ledgerFlags(participant.url));
    expect(code).toBe(1);
    expect(out).toContain("no registrar is served");
    expect(headersIn(out)).toEqual(["warning: other (1)"]);
    expect(out).toContain(`no contract of the registry is visible to ${parties.operator}.`);
  });
});
