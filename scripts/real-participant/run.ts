/**
 * Runs flows with the real packages on a real participant, each choice submitted by the acting party alone with the answer
 * of the built service, whose mirror reads as the operator. See docs/conformance.md:
 *
 *   npx tsx scripts/real-participant/run.ts [--ledger URL] [--parties FILE] [--parts flows,groups,wallet,dry-run,tokens,standard]
 *     [--instruments registrar/PLAIN,…] [--flows TEXT] [--secret TEXT] [--dars FOLDER]
 *
 * Needs a build, a Canton 3.5 participant with the packages of Registry App 0.12, and a file of `Onboarded`; the part standard
 * needs neither of these, but the folder of splice-test-token-v1-1.0.0.dar and splice-test-token-v2-1.0.0.dar, and uploads them. The user
 * participant_admin acts as every party; `--secret` signs its tokens (unsafe-jwt-hmac-256). The flows leave contracts behind.
 * Ends with 1 if the service refused or the ledger rejected anything.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { dryRun } from "./dry-run.js";
import { flows, type Report } from "./flows.js";
import { groups } from "./groups.js";
import { Instrument } from "./instrument.js";
import { Ledger, readOnboarded, signToken } from "./ledger.js";
import { Service } from "./service.js";
import { standard } from "./standard.js";
import { settingsWithTokens, tokens } from "./tokens.js";
import { wallet } from "./wallet.js";

const DAY_SECONDS = 86_400;

const { values } = parseArgs({
  options: {
    ledger: { type: "string", default: process.env["LEDGER"] ?? "http://127.0.0.1:7864" },
    parties: { type: "string", default: "parties.json" },
    // Of the tokens of a participant that authenticates; without it none is sent.
    secret: { type: "string" },
    // The service answers by way of it; without one from its memory.
    database: { type: "string" },
    parts: { type: "string", default: "flows,groups,wallet,dry-run" },
    instruments: { type: "string" },
    // The folder of the packages of Splice's test tokens.
    dars: { type: "string" },
    // Runs only the flows whose names contain the text.
    flows: { type: "string", default: "" },
  },
});

let failed = 0;

const report: Report = async (name, run) => {
  try {
    const note = await run();
    print(`accepted  ${name}${note === undefined ? "" : `: ${note}`}`);
  } catch (error) {
    failed++;
    print(`FAILED    ${name}: ${String(error).slice(0, 1_000)}`);
  }
};

const { secret, database, ledger: url } = values;
const adminToken = secret === undefined ? undefined : signToken(secret, "participant_admin", DAY_SECONDS);
const ledger = new Ledger(url, () => adminToken);
const parts = new Set(values.parts.split(","));
// The participant needs no other package for it.
if (parts.delete("standard")) await standard(ledger, values.dars, report);
if (parts.size > 0) await withUtility();
print(failed === 0 ? "all accepted" : `${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** The parts with the packages of the Registry Utility, which were onboarded. */
async function withUtility(): Promise<void> {
  const onboarded = readOnboarded(values.parties);
  const all = Object.entries(onboarded.registrars).flatMap(([registrar, { configs }]) =>
    Object.keys(configs).map((id) => `${registrar}/${id}`),
  );
  const chosen = values.instruments?.split(",") ?? all;

  const folder = await mkdtemp(join(tmpdir(), "offledger-participant-"));
  const service = await Service.start({
    OFFLEDGER_LEDGER_URL: url,
    OFFLEDGER_LEDGER_PARTIES: onboarded.parties["operator"] ?? "",
    ...(database !== undefined && { OFFLEDGER_DATABASE_URL: database }),
    ...(secret === undefined
      ? { OFFLEDGER_PREPARE_USER_ID: "participant_admin" }
      : await settingsWithTokens(ledger, onboarded, secret, folder)),
  });
  try {
    const instruments = chosen.map((name) => {
      const [registrar = "", id = ""] = name.split("/");
      return new Instrument(ledger, service, onboarded, registrar, id);
    });
    const { issuer1 = "", alice = "" } = onboarded.parties;
    // The onboarding gives the credentials of holders, not that of issuance.
    await instruments[0]?.credential(issuer1, alice, "isMinter", "yes");
    for (const instrument of instruments) {
      if (parts.has("flows"))
        for (const flow of flows.filter(({ name }) => name.includes(values.flows)))
          await report(`${instrument.name} ${flow.name}`, () => flow.run(instrument));
      if (parts.has("dry-run")) await dryRun(instrument, report);
    }
    if (parts.has("groups")) await groups(ledger, service, onboarded, report);
    if (parts.has("wallet")) await wallet(instruments, report);
    if (parts.has("tokens")) await tokens({ ledger, onboarded, secret, chosen }, report);
    if (service.durations.length > 0) printDurations(service.durations);
  } finally {
    await service.stop();
    await rm(folder, { recursive: true });
  }
}

function printDurations(durations: readonly number[]): void {
  const sorted = durations.toSorted((a, b) => a - b);
  const percentile = (of: number) => (sorted[Math.ceil(sorted.length * of) - 1] ?? 0).toFixed(0);
  print(`${sorted.length} answers: p50 ${percentile(0.5)} ms, p90 ${percentile(0.9)} ms, p99 ${percentile(0.99)} ms`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
