/** Logs one line per request, without anything that was sent but what a refusal is about. */
import { Code } from "@connectrpc/connect";
import type { Logger } from "pino";
import type { Config } from "../config/config.js";
import { refusalFields } from "./refusals.js";
import { type CompletedRequest, isFailure, type Outcome, readClientAddress, statusName } from "./request-record.js";

export class RequestLog {
  readonly #log: Logger;
  readonly #logged: Config["logRequests"];

  constructor(log: Logger, logged: Config["logRequests"]) {
    this.#log = log;
    this.#logged = logged;
  }

  /** Whether requests with this outcome are logged. Lets the caller skip creating ids. */
  isLogged(outcome: Outcome): boolean {
    if (this.#logged === "none" || (this.#logged === "failed" && outcome === 0)) return false;
    return this.#log.isLevelEnabled(levelOf(outcome));
  }

  /** `traceId` is undefined if the request has no trace. */
  write(
    { request, requestId, operation, protocol, outcome, durationMs, refusal }: CompletedRequest,
    traceId: string | undefined,
  ): void {
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
    this.#log[levelOf(outcome)](fields, "request");
  }
}

/** A caller's mistake is not a warning: the operator cannot fix it. */
function levelOf(outcome: Outcome): "info" | "warn" {
  return outcome === Code.ResourceExhausted || isFailure(outcome) ? "warn" : "info";
}
