/** A run: all checks, one after the other, and what it amounts to. */
import { type Check, type Result, runCheck, type Severity } from "./check.js";
import { contextChecks } from "./contexts.js";
import { readOperations } from "./documents.js";
import { metadataChecks } from "./metadata.js";
import { Prober, type ProberOptions } from "./prober.js";
import { type Known, Registry } from "./registry.js";
import { transportChecks } from "./transport.js";

export const checks: readonly Check[] = [...metadataChecks, ...contextChecks, ...transportChecks];

export interface Run {
  readonly results: readonly Result[];
  readonly requests: number;
  /** Why the results say little: most answers are 401 or 404. Undefined if they do not. */
  readonly warning: string | undefined;
}

/** `base` is what wallets have as the URL of the registry: `/registry/…` follows it. */
export async function run(
  base: string,
  known: Known,
  options: ProberOptions,
  report: (result: Result) => void,
): Promise<Run> {
  const prober = new Prober(options);
  const registry = new Registry(prober, base.replace(/\/$/, ""), readOperations(), known);
  const results: Result[] = [];
  for (const check of checks) {
    const result = await runCheck(check, registry);
    results.push(result);
    report(result);
  }
  const { exchanges } = prober;
  const share = (status: number) =>
    exchanges.filter((one) => one.status === status).length / Math.max(1, exchanges.length);
  const [refused, unknown] = [share(401) + share(403), share(404)];
  const warning =
    refused > 0.5
      ? "most answers are 401 or 403: give --header or --token-file"
      : unknown > 0.5
        ? "most answers are 404: is this the URL before /registry/, and the right registrar?"
        : undefined;
  return { results, requests: exchanges.length, warning };
}

const RANK: Readonly<Record<Severity, number>> = { must: 3, should: 2, habit: 1 };

/** Whether the run fails, given the least severity that counts. */
export const hasFailed = ({ results }: Run, from: Severity): boolean =>
  results.some(({ outcome, check }) => outcome === "failed" && RANK[check.severity] >= RANK[from]);
