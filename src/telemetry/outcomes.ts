/** Names of outcomes, as metrics, logs and traces tell them. */
import { Code } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import type { Outcome } from "./request-record.js";

/** The name of each outcome at its number: `ok`, and the codes as Connect writes them, such as `not_found`. */
export const statusNames: readonly string[] = [
  "ok",
  ...Object.values(Code)
    .filter((code): code is Code => typeof code === "number")
    .toSorted((a, b) => a - b)
    .map(codeToString),
];

/** The number of an outcome. What a peer numbers in a way that nobody knows is `unknown`. */
export const outcomeNumber = (outcome: Outcome): number => (outcome in statusNames ? outcome : Code.Unknown);

/** The name of an outcome. */
export const statusName = (outcome: Outcome): string => statusNames[outcomeNumber(outcome)] ?? "unknown";

/** Outcomes that are a failure of the service and not a mistake of the caller's: those that gRPC's tracing calls so. */
const failures: ReadonlySet<Outcome> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

export const isFailure = (outcome: Outcome): boolean => failures.has(outcome);
