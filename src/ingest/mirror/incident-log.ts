import type { LedgerError, LedgerErrorKind } from "../../ledger/participant/errors.js";
import type { Logger } from "../../util/logger.js";

interface Explanation {
  readonly level: "warn" | "error";
  readonly message: string;
  readonly hint: string;
}

const explanations: Readonly<Record<LedgerErrorKind, Explanation>> = {
  pruned: {
    level: "warn",
    message: "the participant has pruned the updates after our offset",
    hint: "nothing: a new snapshot is taken; if this happens often, keep more history on the participant",
  },
  ahead: {
    level: "error",
    message: "the participant is behind our offset: it was restored from a backup",
    hint: "check the participant; a new snapshot of its present state is taken",
  },
  denied: {
    level: "error",
    message: "the participant or the token issuer denies access",
    hint: "check the token file or the client credentials, and that the user may read as the configured parties",
  },
  busy: {
    level: "warn",
    message: "the participant is overloaded or not ready",
    hint: "nothing: the request is repeated",
  },
  internal: {
    level: "error",
    message: "the participant reports an internal error",
    hint: "see the participant's log; the request is repeated slowly",
  },
  lost: {
    level: "warn",
    message: "the connection to the participant was lost",
    hint: "nothing: it is opened again",
  },
  unreadable: {
    level: "error",
    message: "the participant sent a malformed message",
    hint: "if this continues, install a newer release of this service; a new snapshot is taken meanwhile",
  },
  incomplete: {
    level: "error",
    message: "the participant has none of the registry's packages",
    hint: "upload the packages named in the reason, or check that this is the right participant",
  },
  refused: {
    level: "error",
    message: "the participant rejected the request",
    hint: "check that it serves the JSON Ledger API v2 and knows the parties",
  },
};

/** Logs an incident once when it begins and once when it ends, not on every retry. */
export class IncidentLog {
  readonly #log: Logger;
  readonly #now: () => number;
  #open: { readonly key: string; readonly since: number; readonly description: string } | undefined;

  constructor(log: Logger, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  /** What goes on; undefined without an incident. */
  get description(): string | undefined {
    return this.#open?.description;
  }

  begin(error: LedgerError): void {
    const key = `${error.kind} ${error.code ?? ""}`;
    if (this.#open?.key === key) return;
    const { level, message, hint } = explanations[error.kind];
    this.#open = { key, since: this.#open?.since ?? this.#now(), description: `${message} (${error.message})` };
    this.#log[level](
      { kind: error.kind, code: error.code, reason: error.message, hint },
      `${message}; contracts read before are still served`,
    );
  }

  end(): void {
    if (this.#open === undefined) return;
    const lasted = this.#now() - this.#open.since;
    this.#open = undefined;
    this.#log.info({ lasted }, "following the ledger again");
  }
}
