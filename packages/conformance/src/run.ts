/** A run: all checks, one after the other, and what it amounts to. */
import { type Check, type Result, runCheck, type Severity } from "./check.js";
import { contextChecks } from "./contexts.js";
import { readOperations } from "./documents.js";
import { objectOf, textOf } from "./json.js";
import { infoOf, instrumentsIn, metadataChecks, pageOf } from "./metadata.js";
import type { Exception } from "./profile.js";
import { Prober, type ProberOptions } from "./prober.js";
import { type Known, Registry } from "./registry.js";
import { servedChecks } from "./served.js";
import { transportChecks } from "./transport.js";

export const checks: readonly Check[] = [...metadataChecks, ...servedChecks, ...contextChecks, ...transportChecks];

export interface Run {
  readonly results: readonly Result[];
  readonly requests: number;
  /** Why the results say little: most answers are 401 or 404. Undefined if they do not. */
  readonly warning: string | undefined;
}

export interface RunOptions extends ProberOptions {
  /** Checks that are expected to fail. */
  readonly exceptions?: readonly Exception[];
}

/** What the caller knows; `isRegistrarGiven` follows from it. */
export type Given = Omit<Known, "isRegistrarGiven">;

/** `base` is what wallets have as the URL of the registry, without a slash at its end: `/registry/…` follows it. */
export async function run(
  base: string,
  given: Given,
  { exceptions = [], ...options }: RunOptions,
  report: (result: Result) => void,
): Promise<Run> {
  const prober = new Prober(options);
  const registry = await discover(prober, base, given);
  const results: Result[] = [];
  for (const check of checks) {
    const excepted = exceptions.find((one) => one.check === check.id);
    const result = withException(await runCheck(check, registry), excepted);
    results.push(result);
    report(result);
  }
  const { answers } = prober;
  // Versions that a registry does not have are 404, and right.
  const metadata = answers.filter(({ url }) => url.includes("/registry/metadata/"));
  const [refused, unknown] = [share(answers, 401, 403), share(metadata, 404)];
  const warning =
    refused > 0.5
      ? "most answers are 401 or 403: give --header or --token-file"
      : unknown > 0.5
        ? "most answers are 404: is this the URL before /registry/, and the right registrar?"
        : undefined;
  return { results, requests: answers.length, warning };
}

const share = (of: Prober["answers"], ...statuses: readonly number[]): number =>
  of.filter(({ status }) => statuses.includes(status)).length / Math.max(1, of.length);

/** The registrar and an instrument, where they were not given, are those that the registry names first. */
async function discover(prober: Prober, base: string, given: Given): Promise<Registry> {
  const [, inPath] = /\/registrars\/([^/]+)$/.exec(base) ?? [];
  const registrar = given.registrar ?? (inPath === undefined ? undefined : decodeURIComponent(inPath));
  const known = { ...given, registrar, isRegistrarGiven: registrar !== undefined };
  const registry = new Registry(prober, base, readOperations(), known);
  if (registrar !== undefined && known.instruments.length > 0) return registry;
  const adminId = textOf(objectOf((await infoOf(registry)).json)["adminId"]);
  const [first] = instrumentsIn(await pageOf(registry)).flatMap(({ id }) => (typeof id === "string" ? [id] : []));
  return new Registry(prober, base, registry.operations, {
    ...known,
    registrar: registrar ?? (adminId === "" ? undefined : adminId),
    instruments: known.instruments.length > 0 || first === undefined ? known.instruments : [first],
  });
}

const RANK: Readonly<Record<Severity, number>> = { must: 3, should: 2, habit: 1, information: 0 };

/** Whether a result makes the run fail, given the least severity that counts. */
export const failsFrom = ({ outcome, check }: Result, from: Severity): boolean =>
  outcome === "outdated" || (outcome === "failed" && RANK[check.severity] >= RANK[from]);

/** A check that passes has no exception: what is not mended by itself was not wrong. */
function withException(result: Result, exception: Exception | undefined): Result {
  if (exception === undefined || result.outcome === "skipped") return result;
  const { reason } = exception;
  return result.outcome === "passed"
    ? { ...result, outcome: "outdated", message: `it passes, and the profile expects it to fail: ${reason}` }
    : { ...result, outcome: "expected", message: `${result.message ?? ""} (${reason})` };
}
