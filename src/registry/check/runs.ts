/** Operations that the state suggests, run as for a request: why they fail. */
import { definitionOf } from "../../domain/causes.js";
import { type Cause, causesOf, errorIn, type RegistryErrorReason } from "../../domain/errors.js";
import { type Warning, warningOf } from "../sdk/warnings.js";

export interface Run {
  readonly operation: string;
  /** As the service answers it. */
  readonly answered: () => unknown;
  /** As the ledger needs it, which is no less; absent if that is the same. */
  readonly strict?: (() => unknown) | undefined;
}

/** What runs are about: an instrument, or a pending instruction. */
export interface Subject extends Pick<Warning, "registrar" | "instrument" | "contractId"> {}

/** Why runs fail, once for each cause. */
export function findProblems(runs: Iterable<Run>, subject: Subject): readonly Warning[] {
  const found = new Map<string, { readonly cause: Cause; readonly refusal: Refusal; readonly operations: string[] }>();
  for (const { operation, answered, strict } of runs)
    for (const { cause, refusal } of problemsOf(answered, strict)) {
      const key = `${refusal} ${cause.message}`;
      const known = found.get(key) ?? { cause, refusal, operations: [] };
      if (!known.operations.includes(operation)) known.operations.push(operation);
      found.set(key, known);
    }
  return Array.from(found.values(), ({ cause, refusal, operations }) =>
    warningOf(cause, {
      registrar: subject.registrar,
      instrument: cause.instrument ?? subject.instrument,
      contractId: subject.contractId ?? cause.contractId,
      operations,
      refusal,
    }),
  );
}

/** Undefined if the request is answered, but the choice fails on the ledger. */
type Refusal = RegistryErrorReason | undefined;

function problemsOf(
  answered: () => unknown,
  strict: () => unknown = answered,
): readonly { readonly cause: Cause; readonly refusal: Refusal }[] {
  const failed = errorIn(strict);
  if (failed === undefined) return [];
  const refused = strict === answered ? failed : errorIn(answered);
  const refusals = new Map((refused === undefined ? [] : causesOf(refused)).map((cause) => [cause.message, cause]));
  const causes = new Map([...causesOf(failed).map((cause) => [cause.message, cause] as const), ...refusals]);
  return Array.from(causes.values(), (cause) => ({
    cause,
    // A code of a module is not in the table.
    refusal: refusals.has(cause.message)
      ? ((definitionOf(cause.code)?.reason as Refusal) ?? refused?.reason)
      : undefined,
  }));
}
