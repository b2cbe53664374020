import { Code } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import type { Outcome } from "./request-record.js";

/** Names in metrics, logs and traces by outcome number: `ok`, then the codes by Connect, such as `not_found`. */
export const statusNames: readonly string[] = [
  "ok",
  ...Object.values(Code)
    .filter((code): code is Code => typeof code === "number")
    .toSorted((a, b) => a - b)
    .map(codeToString),
];

/** A peer may send any number: those that are not a code count as `unknown`. */
export const outcomeNumber = (outcome: Outcome): number => (outcome in statusNames ? outcome : Code.Unknown);

export const statusName = (outcome: Outcome): string => statusNames[outcomeNumber(outcome)] ?? "unknown";

/** Failures of the service rather than mistakes of the caller, by OpenTelemetry's conventions for gRPC servers. */
const failures: ReadonlySet<Outcome> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

export const isFailure = (outcome: Outcome): boolean => failures.has(outcome);
