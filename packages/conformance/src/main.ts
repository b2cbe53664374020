#!/usr/bin/env node
/** `offledger-conformance`: checks a registry of the token standard. */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { Result, Severity } from "./check.js";
import { answerOf, curlOf } from "./prober.js";
import { checks, hasFailed, run } from "./run.js";

const USAGE = `Usage: offledger-conformance URL [options]

Checks a registry of the Canton Network's token standard against the published documents, and against what wallets need. URL
is what stands before /registry/. It submits nothing to a ledger; a factory request may make a foreign registry create something.

  --registrar PARTY     whose instruments; where the URL names none, it is added as /api/token-standard/v0/registrars/PARTY
  --instrument ID       with --sender PARTY and --receiver PARTY: the transfer factory is asked
  --holding ID          a holding of the sender, may be given more than once
  --offer ID            a transfer instruction that waits
  --allocation ID       an allocation that waits
  --header NAME:VALUE   sent with each request, may be given more than once
  --token-file FILE     a bearer token
  --negative            sends wrong requests too
  --rate N              requests in a second (1)
  --fail-on SEVERITY    must, should or habit: exit 1 for failures from this severity (must)
  --explain CHECK       says what a check enforces, and where that stands
  --json                prints the results as JSON
`;

class UsageError extends Error {}

async function main(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      registrar: { type: "string" },
      instrument: { type: "string" },
      sender: { type: "string" },
      receiver: { type: "string" },
      holding: { type: "string", multiple: true, default: [] },
      offer: { type: "string" },
      allocation: { type: "string" },
      header: { type: "string", multiple: true, default: [] },
      "token-file": { type: "string" },
      negative: { type: "boolean", default: false },
      rate: { type: "string", default: "1" },
      "fail-on": { type: "string", default: "must" },
      explain: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return print(USAGE);
  if (values.explain !== undefined) return print(explained(values.explain));
  const [url] = positionals;
  if (url === undefined || !/^https?:\/\//.test(url))
    throw new UsageError("give the URL that stands before /registry/");
  const severity = severityOf(values["fail-on"]);
  const rate = Number(values.rate);
  if (!(rate > 0 && rate <= 1_000)) throw new UsageError(`--rate ${values.rate} must be a number from above 0 to 1000`);
  const done = await run(
    baseOf(url, values.registrar),
    {
      ...values,
      holdings: values.holding,
      registrar: values.registrar,
      instrument: values.instrument,
      sender: values.sender,
      receiver: values.receiver,
      offer: values.offer,
      allocation: values.allocation,
    },
    { headers: await headersOf(values.header, values["token-file"]), rate },
    (result) => void (values.json || print(lineOf(result))),
  );
  if (values.json) print(`${JSON.stringify(done.results.map(reportOf), null, 2)}\n`);
  else {
    const count = (outcome: Result["outcome"]) => done.results.filter((one) => one.outcome === outcome).length;
    print(
      `\n${count("passed")} passed, ${count("failed")} failed, ${count("unstable")} unstable, ${count("skipped")} skipped; ${done.requests} requests\n`,
    );
    if (done.warning !== undefined) print(`Note: ${done.warning}\n`);
  }
  // Most answers say nothing: that is not a registry that passes.
  process.exitCode = hasFailed(done, severity) || done.warning !== undefined ? 1 : 0;
}

const print = (text: string): void => void process.stdout.write(text);

/** A registrar in the URL stays as it is. */
function baseOf(url: string, registrar: string | undefined): string {
  const base = url.replace(/\/+$/, "");
  if (registrar === undefined || base.includes("/registrars/")) return base;
  return `${base}/api/token-standard/v0/registrars/${encodeURIComponent(registrar)}`;
}

async function headersOf(given: readonly string[], tokenFile: string | undefined): Promise<Record<string, string>> {
  const headers = given.map((text): [string, string] => {
    const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(text) ?? [];
    if (name === undefined || value === undefined) throw new UsageError("--header must be NAME:VALUE");
    return [name.toLowerCase(), value];
  });
  if (tokenFile === undefined) return Object.fromEntries(headers);
  const token = await readFile(tokenFile, "utf8").catch(() => undefined);
  if (token === undefined) throw new UsageError(`${tokenFile} cannot be read: it is the file of the token`);
  return { ...Object.fromEntries(headers), authorization: `Bearer ${token.trim()}` };
}

function severityOf(text: string): Severity {
  if (text === "must" || text === "should" || text === "habit") return text;
  throw new UsageError(`--fail-on ${text} must be must, should or habit`);
}

function explained(id: string): string {
  const check = checks.find((one) => one.id === id);
  if (check === undefined)
    throw new UsageError(`there is no check ${id}: there are ${checks.map((one) => one.id).join(", ")}`);
  return `${check.id} (${check.severity}): ${check.says}.\n\n  "${check.quote}"\n  ${check.place}\n\nWhat helps: ${check.help}.\n`;
}

const MARKS = { passed: "ok  ", failed: "FAIL", unstable: "?   ", skipped: "-   " } as const;

function lineOf({ check, outcome, message, exchange }: Result): string {
  const first = `${MARKS[outcome]} ${check.severity.padEnd(6)} ${check.id}: ${outcome === "passed" ? check.says : (message ?? "")}\n`;
  if (outcome !== "failed" && outcome !== "unstable") return first;
  const shown = exchange === undefined ? [] : [`sent: ${curlOf(exchange.sent)}`, `came: ${answerOf(exchange)}`];
  return `${first}${[...shown, `help: ${check.help}`].map((line) => `            ${line}\n`).join("")}`;
}

const reportOf = ({ check, outcome, message, exchange }: Result) => ({
  id: check.id,
  severity: check.severity,
  outcome,
  message,
  sent: exchange && curlOf(exchange.sent),
  came: exchange && answerOf(exchange),
});

main(process.argv.slice(2)).catch((error: unknown) => {
  const isUsage = error instanceof UsageError || (error instanceof TypeError && "code" in error);
  process.stderr.write(
    `${isUsage && error instanceof Error ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  process.exitCode = 2;
});
