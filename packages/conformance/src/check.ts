/** What a check is, and how one is run: a failed check is tried once more, alone. */
import type { Exchange } from "./prober.js";
import type { Registry } from "./registry.js";

/**
 * `must`: a sentence of a published document or of a Daml interface. `should`: a SHOULD, or a description. `habit`: what named
 * clients need. `information`: what a reader may want to know, and no failure.
 */
export type Severity = "must" | "should" | "habit" | "information";

export interface Check {
  /** Does not change: profiles and reports name it. */
  readonly id: string;
  readonly severity: Severity;
  /** What holds where it passes, a sentence without a full stop. */
  readonly says: string;
  /** The sentence that it enforces, or the client that needs it. */
  readonly quote: string;
  /** Where that stands. */
  readonly place: string;
  /** What helps a registry that fails. */
  readonly help: string;
  /** Returns what is worth saying although it passes. Throws Violation or Skipped. */
  readonly run: (registry: Registry) => Promise<string | void>;
}

/** What is wrong, and the request that shows it. */
export class Violation extends Error {
  constructor(
    message: string,
    readonly exchange: Exchange,
  ) {
    super(message);
  }
}

/** What the command line or a file has wrong, in a sentence. */
export class UsageError extends Error {}

/** Why a check says nothing of this registry. */
export class Skipped extends Error {}

export interface Result {
  readonly check: Check;
  /**
   * `unstable`: it failed, then passed. `expected`: it failed, and the profile says that it does. `outdated`: it passed, and the
   * profile says that it fails.
   */
  readonly outcome: "passed" | "failed" | "unstable" | "skipped" | "expected" | "outdated";
  /** What is wrong, why it was skipped, or what is worth saying; undefined if there is nothing. */
  readonly message: string | undefined;
  readonly exchange: Exchange | undefined;
}

export async function runCheck(check: Check, registry: Registry): Promise<Result> {
  const first = await attempt(check, registry);
  if (first.outcome !== "failed") return first;
  const second = await attempt(check, registry.afresh());
  return second.outcome === "failed" ? second : { ...first, outcome: "unstable" };
}

async function attempt(check: Check, registry: Registry): Promise<Result> {
  try {
    const note = await check.run(registry);
    return { check, outcome: "passed", message: note ?? undefined, exchange: undefined };
  } catch (error) {
    if (error instanceof Skipped) return { check, outcome: "skipped", message: error.message, exchange: undefined };
    if (error instanceof Violation)
      return { check, outcome: "failed", message: error.message, exchange: error.exchange };
    throw error;
  }
}

/** Statuses of which no document says anything: who asks is not let in, or the registry cannot answer now. */
const NO_VERDICT = new Set([401, 403, 429, 502, 503, 504]);

/** Throws Skipped for an answer that says nothing of the operation. */
export function requireVerdict({ status, headers }: Exchange): void {
  if (NO_VERDICT.has(status)) throw new Skipped(`the status is ${status}`);
  if (status >= 300 && status < 400)
    throw new Skipped(`it redirects to ${headers.get("location") ?? "nowhere"}: give the URL that it leads to`);
}

/** Throws Violation unless the status is 200 and the body has the shape of the document; Skipped without a verdict. */
export function requireAnswer(exchange: Exchange, defects: readonly string[]): void {
  requireVerdict(exchange);
  if (exchange.status === 0) throw new Violation(`there is no answer: ${exchange.text}`, exchange);
  if (exchange.status !== 200) throw new Violation(`the status is ${exchange.status}, not 200`, exchange);
  if (exchange.json === undefined) throw new Violation("the body is no JSON", exchange);
  const [defect, ...others] = defects;
  if (defect !== undefined)
    throw new Violation(others.length === 0 ? defect : `${defect}, and ${others.length} more`, exchange);
}
