/** The command line: options and profile, a run, and its reports. */
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type Result, type Severity, UsageError } from "./check.js";
import { jsonReport, junitReport, lineOf, markdownReport, summaryOf } from "./report.js";
import { FORMS, readProfile } from "./profile.js";
import { checks, failsFrom, run, type Run } from "./run.js";

const USAGE = `Usage: offledger-conformance URL [options]

Checks a registry of the Canton Network's token standard against the published documents, and against what wallets need. URL
is what stands before /registry/. It submits nothing to a ledger; a factory request may make a foreign registry create something.

  --registrar PARTY     whose instruments; where the URL names none, it is added as /api/token-standard/v0/registrars/PARTY
  --at-root             the URL is that of the registrar: nothing is added to it
  --instrument ID       what is transferred, with --sender PARTY and --receiver PARTY; may be given more than once
  --holding ID          a holding of the sender, may be given more than once
  --offer ID            a transfer instruction that waits
  --allocation ID       an allocation that waits
  --allocation-instruction ID   an allocation instruction that waits
  --replica URL         of the same registry: its answers are compared
  --header NAME:VALUE   sent with each request, may be given more than once
  --token-file FILE     a bearer token
  --negative            sends wrong requests too
  --rate N              requests in a second (1)
  --fail-on SEVERITY    must, should or habit: exit 1 for failures from this severity (must)
  --profile FILE        these options in YAML, and exceptions: see --explain profile
  --json FILE, --junit FILE, --markdown FILE    reports; - is the output, in place of the table
  --explain CHECK       says what a check enforces, and where that stands
`;

const PROFILE = `A profile is a YAML file for continuous integration:

  url: https://registry.example/api/token-standard/v0/registrars/acme::1220
  instrument: [GOLD]
  sender: alice::1220
  receiver: bob::1220
  rate: 10
  fail-on: should
  exceptions:
    - check: page-size
      reason: the gateway caches the first page

Options of the command line count before those of the file. A check that is excepted and fails is "expected"; one that
passes fails the run, so that no exception outlives its reason.
`;

type Print = (text: string) => void;

const toOutput: Print = (text) => void process.stdout.write(text);
const toError: Print = (text) => void process.stderr.write(text);

/** Returns the exit code: 0, 1 if the registry fails, 2 for what is wrong with the options. Never rejects. */
export async function conformance(args: readonly string[], print = toOutput, printError = toError): Promise<number> {
  try {
    return await main(args, print);
  } catch (error) {
    const isUsage = error instanceof UsageError || (error instanceof TypeError && "code" in error);
    const text = error instanceof Error ? (isUsage ? error.message : (error.stack ?? error.message)) : String(error);
    printError(`${text}\n`);
    return 2;
  }
}

async function main(args: readonly string[], print: Print): Promise<number> {
  const text = { type: "string" } as const;
  const list = { type: "string", multiple: true } as const;
  const flag = { type: "boolean" } as const;
  const forms = { text, list, flag };
  const common = Object.entries(FORMS).filter(([name]) => name !== "url");
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...Object.fromEntries(common.map(([name, form]) => [name, forms[form]])),
      profile: text,
      explain: text,
      json: text,
      junit: text,
      markdown: text,
      help: { ...flag, short: "h" },
    },
  });
  if (values.help === true || typeof values.explain === "string") {
    print(typeof values.explain === "string" ? explained(values.explain) : USAGE);
    return 0;
  }
  const ids = checks.map(({ id }) => id);
  const profile =
    typeof values.profile === "string" ? await readProfile(values.profile, ids) : { options: {}, exceptions: [] };
  const given: Readonly<Record<string, unknown>> = { ...profile.options, ...values };
  const listOf = (name: string) =>
    [given[name] ?? []].flat().map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  const textOf = (name: string) => listOf(name)[0];
  const url = positionals[0] ?? textOf("url");
  if (url === undefined || !URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError("give the URL that stands before /registry/");
  const from = severityOf(textOf("fail-on") ?? "must");
  const rate = Number(textOf("rate") ?? 1);
  if (!(rate > 0 && rate <= 1_000))
    throw new UsageError(`--rate ${textOf("rate")} must be a number from above 0 to 1000`);
  const reports = ["json", "junit", "markdown"].flatMap((name) => (textOf(name) === undefined ? [] : [name]));
  const isTable = !reports.some((name) => textOf(name) === "-");
  const registrar = textOf("registrar");
  const inPath = given["at-root"] === true ? undefined : registrar;
  const [replica] = listOf("replica").map((one) => baseOf(one, inPath));
  const done = await run(
    baseOf(url, inPath),
    {
      registrar,
      instruments: listOf("instrument"),
      sender: textOf("sender"),
      receiver: textOf("receiver"),
      holdings: listOf("holding"),
      offer: textOf("offer"),
      allocation: textOf("allocation"),
      allocationInstruction: textOf("allocation-instruction"),
      replica,
      negative: given["negative"] === true,
    },
    { headers: await headersOf(listOf("header"), textOf("token-file")), rate, exceptions: profile.exceptions },
    (result) => void (isTable && print(lineOf(result))),
  );
  if (isTable) print(summaryOf(done));
  const fails = (result: Result) => failsFrom(result, from);
  const forReport: Readonly<Record<string, (of: Run) => string>> = {
    json: jsonReport,
    junit: (of) => junitReport(of, fails),
    markdown: markdownReport,
  };
  for (const name of reports) {
    const content = forReport[name]?.(done) ?? "";
    const path = textOf(name) ?? "-";
    if (path === "-") print(content);
    else await writeFile(path, content);
  }
  // Most answers say nothing: that is not a registry that passes.
  return done.results.some(fails) || done.warning !== undefined ? 1 : 0;
}

/** What `/registry/` follows. A registrar in the URL stays as it is. */
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
  if (id === "profile") return PROFILE;
  const check = checks.find((one) => one.id === id);
  if (check === undefined)
    throw new UsageError(`there is no check ${id}: there are ${checks.map((one) => one.id).join(", ")}`);
  const help = check.help === "" ? "" : `\nWhat helps: ${check.help}.\n`;
  return `${check.id} (${check.severity}): ${check.says}.\n\n  "${check.quote}"\n  ${check.place}\n${help}`;
}
