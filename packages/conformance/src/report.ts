/** What a run amounts to: for people, for programs, and for the reports of continuous integration. */
import type { Result } from "./check.js";
import { answerOf, curlOf } from "./prober.js";
import type { Run } from "./run.js";

const MARKS: Readonly<Record<Result["outcome"], string>> = {
  passed: "ok  ",
  failed: "FAIL",
  unstable: "?   ",
  skipped: "-   ",
  expected: "x   ",
  outdated: "FAIL",
};

/** A result for people: one line, and for a failure what was sent, what came and what helps. */
export function lineOf({ check, outcome, message, exchange }: Result): string {
  const told = message ?? (outcome === "passed" ? check.says : "");
  const first = `${MARKS[outcome]} ${check.severity.padEnd(11)} ${check.id}: ${told}\n`;
  if (outcome !== "failed" && outcome !== "unstable") return first;
  const shown = exchange === undefined ? [] : [`sent: ${curlOf(exchange.sent)}`, `came: ${answerOf(exchange)}`];
  return `${first}${[...shown, `help: ${check.help}`].map((line) => `                 ${line}\n`).join("")}`;
}

/** The last lines: how many there are of each outcome. Skipped checks are none that passed. */
export function summaryOf({ results, requests, warning }: Run): string {
  const counts = Object.keys(MARKS)
    .map((outcome) => [results.filter((one) => one.outcome === outcome).length, outcome] as const)
    .filter(([count, outcome]) => count > 0 || outcome === "passed" || outcome === "failed")
    .map(([count, outcome]) => `${count} ${outcome}`);
  const note = warning === undefined ? "" : `Note: ${warning}\n`;
  return `\n${counts.join(", ")}; ${requests} requests\n${note}`;
}

export function jsonReport({ results, requests, warning }: Run): string {
  const checks = results.map(({ check, outcome, message, exchange }) => ({
    id: check.id,
    severity: check.severity,
    outcome,
    message,
    place: check.place,
    sent: exchange && curlOf(exchange.sent),
    came: exchange && answerOf(exchange),
  }));
  return `${JSON.stringify({ requests, warning, checks }, null, 2)}\n`;
}

/** A table, as the summary of a job shows it. */
export function markdownReport(run: Run): string {
  const rows = run.results
    .filter(({ outcome }) => outcome !== "passed")
    .map(({ check, outcome, message = "", exchange }) => {
      const sent = exchange === undefined ? "" : `\`${cell(curlOf(exchange.sent))}\``;
      const help = outcome === "failed" || outcome === "unstable" ? check.help : "";
      return `| ${outcome} | ${check.severity} | ${check.id} | ${cell(message)} | ${sent} | ${cell(help)} |\n`;
    });
  const table =
    rows.length === 0
      ? ""
      : `\n| Outcome | Severity | Check | What is wrong | Sent | What helps |\n|---|---|---|---|---|---|\n${rows.join("")}`;
  return `## Conformance of the registry\n${summaryOf(run)}${table}`;
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ");

/** JUnit's form, without a schema of its own: a failure counts where the run fails for it. */
export function junitReport({ results }: Run, fails: (result: Result) => boolean): string {
  const cases = results.map((result) => {
    const { check, outcome, message = "", exchange } = result;
    const attributes = `classname="conformance.${check.severity}" name="${escaped(`${check.id}: ${check.says}`)}"`;
    if (outcome === "skipped" || outcome === "expected")
      return `<testcase ${attributes}><skipped message="${escaped(message)}"/></testcase>`;
    if (!fails(result)) return `<testcase ${attributes}/>`;
    const text = exchange === undefined ? "" : `${curlOf(exchange.sent)}\n${answerOf(exchange)}\n${check.help}`;
    return `<testcase ${attributes}><failure message="${escaped(message)}">${escaped(text)}</failure></testcase>`;
  });
  const count = (found: (result: Result) => boolean) => results.filter(found).length;
  const skipped = count(({ outcome }) => outcome === "skipped" || outcome === "expected");
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite name="conformance" tests="${results.length}" ` +
    `failures="${count(fails)}" skipped="${skipped}">\n${cases.join("\n")}\n</testsuite>\n</testsuites>\n`
  );
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** XML has no control characters but these three. */
// oxlint-disable-next-line no-control-regex -- they are what it is about
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;
const escaped = (text: string): string =>
  text.replaceAll(CONTROL, "").replaceAll(/[&<>"]/g, (found) => ENTITIES[found] ?? "");
