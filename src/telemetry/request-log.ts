/** One line for each request that is to be logged: what was asked, how it ended, how long it took. Nothing of what was sent. */
import { Code } from "@connectrpc/connect";
import type { Logger } from "pino";
import type { LoggedRequests } from "../config/settings/telemetry.js";
import { addressOf } from "./request-ids.js";
import type { CompletedRequest, Outcome } from "./request-record.js";
import { isFailure, statusName } from "./outcomes.js";

/** What a line has besides what is known of every request. */
export interface RequestIds {
  readonly requestId: string;
  /** Undefined where the request belongs to no trace. */
  readonly traceId: string | undefined;
}

export class RequestLog {
  readonly #log: Logger;
  readonly #logged: LoggedRequests;

  constructor(log: Logger, logged: LoggedRequests) {
    this.#log = log;
    this.#logged = logged;
  }

  /** Whether there is a line for an outcome: so that nothing is made for those that have none. */
  wants(outcome: Outcome): boolean {
    if (this.#logged === "none" || (this.#logged === "failed" && outcome === 0)) return false;
    return this.#log.isLevelEnabled(levelOf(outcome));
  }

  write(
    { request, operation, protocol, outcome, milliseconds }: CompletedRequest,
    { requestId, traceId }: RequestIds,
  ): void {
    const fields = {
      requestId,
      operation: operation === "" ? "none" : operation,
      protocol,
      status: statusName(outcome),
      milliseconds: Math.round(milliseconds * 1000) / 1000,
      traceId,
      client: addressOf(request),
    };
    this.#log[levelOf(outcome)](fields, "request");
  }
}

/** A caller's mistake is nobody's here to repair. */
function levelOf(outcome: Outcome): "info" | "warn" {
  return outcome === Code.ResourceExhausted || isFailure(outcome) ? "warn" : "info";
}
