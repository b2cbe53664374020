import type { Log } from "../../ledger/log.js";
import type { LedgerError, LedgerErrorKind } from "../../ledger/participant/errors.js";

/** What a trouble means and what to do about it, in words for the operator. */
const advice: Readonly<
  Record<LedgerErrorKind, { readonly level: "warn" | "error"; readonly means: string; readonly todo: string }>
> = {
  pruned: {
    level: "warn",
    means: "the participant no longer keeps the updates behind our offset",
    todo: "nothing: a new snapshot is taken; keep more history on the participant if this happens often",
  },
  ahead: {
    level: "error",
    means: "the participant is behind us: it was restored from a backup",
    todo: "check the participant; a new snapshot of what it has now is taken",
  },
  denied: {
    level: "error",
    means: "the participant or the issuer of tokens does not accept who we are",
    todo: "check the token file or the client credentials, and the rights of the user to read as the parties configured",
  },
  busy: {
    level: "warn",
    means: "the participant is not ready or has too much to do",
    todo: "nothing: it is asked again",
  },
  lost: { level: "warn", means: "the connection to the participant was cut", todo: "nothing: it is opened again" },
  unreadable: {
    level: "error",
    means: "the participant sent what cannot be understood",
    todo: "if it goes on: look for a newer release of this service; a new snapshot is taken meanwhile",
  },
  refused: {
    level: "error",
    means: "the participant refuses what is asked of it",
    todo: "check that its JSON Ledger API is version 2, and that it knows the parties and has the packages that are named",
  },
};

/** Tells each trouble once when it begins, and once when it is over. */
export class IncidentLog {
  readonly #log: Log;
  readonly #now: () => number;
  #open: { readonly key: string; readonly since: number } | undefined;

  constructor(log: Log, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  begin(error: LedgerError): void {
    const key = `${error.kind} ${error.code ?? ""}`;
    if (this.#open?.key === key) return;
    this.#open = { key, since: this.#open?.since ?? this.#now() };
    const { level, means, todo } = advice[error.kind];
    this.#log[level](
      { trouble: error.kind, code: error.code, reason: error.message, todo },
      `${means}; what was read so far goes on being served`,
    );
  }

  end(): void {
    if (this.#open === undefined) return;
    const lasted = this.#now() - this.#open.since;
    this.#open = undefined;
    this.#log.info({ lasted }, "the ledger is followed again");
  }
}
