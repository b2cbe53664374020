/** Logs one line per request, without anything that was sent but what a refusal is about. */
import { Code } from "@connectrpc/connect";
import type { Logger } from "pino";
import type { Config } from "../config/config.js";
import { refusalFields } from "./refusals.js";
import { type CompletedRequest, isFailure, readClientAddress, statusName } from "./request-record.js";

export class RequestLog {
  readonly #log: Logger;
  readonly #logged: Config["logRequests"];

  constructor(log: Logger, logged: Config["logRequests"]) {
    this.#log = log;
    this.#logged = logged;
  }

  /** Whether a request is logged. Lets the caller skip creating ids. */
  isLogged(request: Judged): boolean {
    if (this.#logged === "none" || (this.#logged === "failed" && !isFailed(request))) return false;
    return this.#log.isLevelEnabled(levelOf(request));
  }

  /** `traceId` is undefined if the request has no trace. */
  write(completed: CompletedRequest, traceId: string | undefined): void {
    const { request, requestId, operation, protocol, outcome, durationMs, refusal } = completed;
    const fields = {
      requestId,
      operation: operation === "" ? "none" : operation,
      protocol,
      status: statusName(outcome),
      milliseconds: Math.round(durationMs * 1000) / 1000,
      traceId,
      client: readClientAddress(request),
      ...(refusal !== undefined && refusalFields(refusal)),
    };
    this.#log[levelOf(completed)](fields, "request");
  }
}

type Judged = Pick<CompletedRequest, "operation" | "outcome">;

/** A probe that is told the truth has not failed: ReadinessLog tells of it once. */
const isFailed = ({ operation, outcome }: Judged): boolean =>
  outcome !== 0 && !(outcome === Code.Unavailable && /\.health\./.test(operation));

/** A caller's mistake is not a warning: the operator cannot fix it. */
function levelOf(judged: Judged): "info" | "warn" {
  const { outcome } = judged;
  if (!isFailed(judged)) return "info";
  return outcome === Code.ResourceExhausted || isFailure(outcome) ? "warn" : "info";
}
