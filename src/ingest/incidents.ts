/** Failures of the participant: what they mean to an operator, and when the mirror tries again. */
import type { LedgerError, LedgerErrorKind } from "../ledger/participant/errors.js";
import { backoffMs, type BackoffOptions, withJitter } from "../util/async.js";
import type { Logger } from "../util/logger.js";

interface FailureMeaning {
  readonly level: "warn" | "error";
  readonly message: string;
  readonly hint: string;
  readonly backoff: BackoffOptions;
  /** The first retry, with a new snapshot or a new token, is made at once. */
  readonly isRetriedAtOnce?: true;
}

const REPEATED = "nothing: the request is repeated";

const meanings: Readonly<Record<LedgerErrorKind | "forbidden", FailureMeaning>> = {
  pruned: {
    level: "warn",
    message: "the participant has pruned the updates after our offset",
    hint: "nothing: a new snapshot is taken; if this happens often, keep more history on the participant",
    backoff: { firstMs: 100, maxMs: 10_000 },
    isRetriedAtOnce: true,
  },
  ahead: {
    level: "error",
    message: "the participant is behind our offset: it was restored from a backup",
    hint: "check the participant; a new snapshot of its present state is taken",
    backoff: { firstMs: 100, maxMs: 10_000 },
    isRetriedAtOnce: true,
  },
  denied: {
    level: "error",
    message: "the participant or the token issuer does not accept the credentials",
    hint: "check the token file or the client credentials",
    backoff: { firstMs: 100, maxMs: 60_000 },
    isRetriedAtOnce: true,
  },
  forbidden: {
    level: "error",
    message: "the participant accepts the token, but its user may not read as the configured parties",
    hint: "grant the user the right to read as each of OFFLEDGER_LEDGER_PARTIES",
    backoff: { firstMs: 100, maxMs: 60_000 },
    isRetriedAtOnce: true,
  },
  "no-parties": {
    level: "warn",
    message: "there are no parties to read the participant as",
    hint: "grant the token's user CanReadAs for the parties of the registry; it is asked again",
    backoff: { firstMs: 1_000, maxMs: 10_000 },
  },
  withdrawn: {
    level: "error",
    message: "the token's user may no longer read as a party",
    hint: "grant the right again, unless that was meant: a new snapshot has no contracts that this party alone sees",
    backoff: { firstMs: 100, maxMs: 10_000 },
  },
  busy: {
    level: "warn",
    message: "the participant is overloaded or not ready",
    hint: REPEATED,
    backoff: { firstMs: 200, maxMs: 10_000 },
  },
  internal: {
    level: "error",
    message: "the participant reports an internal error",
    hint: "see the participant's log; the request is repeated slowly",
    backoff: { firstMs: 2_000, maxMs: 60_000 },
  },
  lost: {
    level: "warn",
    message: "the connection to the participant was lost",
    hint: "nothing: it is opened again",
    backoff: { firstMs: 100, maxMs: 10_000 },
  },
  unreadable: {
    level: "error",
    message: "the participant sent a malformed message",
    hint: "if this continues, install a newer release of this service; a new snapshot is taken meanwhile",
    backoff: { firstMs: 500, maxMs: 30_000 },
  },
  incomplete: {
    level: "error",
    message: "the participant has none of the registry's packages",
    hint: "upload the packages named in the reason, or check that this is the right participant",
    backoff: { firstMs: 1_000, maxMs: 60_000 },
  },
  unvetted: {
    level: "warn",
    message: "the participant cannot compute views of contracts",
    hint: "vet the package named in the reason; the stream is opened again, then the contracts are left out until it is vetted",
    backoff: { firstMs: 1_000, maxMs: 30_000 },
  },
  refused: {
    level: "error",
    message: "the participant rejected the request",
    hint: "check that OFFLEDGER_LEDGER_URL is that of its JSON Ledger API v2, and that it knows the parties",
    backoff: { firstMs: 1_000, maxMs: 60_000 },
  },
};

const meaningOf = ({ kind, details }: LedgerError): FailureMeaning =>
  meanings[kind === "denied" && details.isForbidden === true ? "forbidden" : kind];

/**
 * Milliseconds to wait after the nth failure in a row, n counted from 1: at least as long as the participant asks for.
 * `random` is in [0, 1).
 */
export function retryDelay(failure: LedgerError, failures: number, random: () => number): number {
  const { backoff, isRetriedAtOnce = false } = meaningOf(failure);
  const delay = failures === 1 && isRetriedAtOnce ? 0 : withJitter(backoffMs(failures, backoff), random);
  return Math.max(failure.details.retryMs ?? 0, delay);
}

/** Logs an incident once when it begins and once when it ends, not on every retry. */
export class IncidentLog {
  #open: { readonly message: string; readonly code: string | undefined; readonly since: number } | undefined;
  #reason = "";

  /**
   * `clock` is monotonic, in milliseconds. `hasContracts` is whether some were read before. With `waits` a failure before that is
   * expected.
   */
  constructor(
    private readonly log: Logger,
    private readonly clock: () => number,
    private readonly hasContracts: () => boolean,
    private readonly waits = false,
  ) {}

  /** What goes on, with the reason of the latest failure; undefined without an incident. */
  get description(): string | undefined {
    return this.#open === undefined ? undefined : `${this.#open.message} (${this.#reason})`;
  }

  begin(error: LedgerError): void {
    const { level, message, hint } = meaningOf(error);
    const { kind, code, message: reason } = error;
    this.#reason = reason;
    if (this.#open?.message === message && this.#open.code === code) return;
    this.#open = { message, code, since: this.#open?.since ?? this.clock() };
    const hasContracts = this.hasContracts();
    const served = hasContracts ? "contracts read before are still served" : "no contracts were read yet";
    this.log[this.waits && !hasContracts ? "info" : level]({ kind, code, reason, hint }, `${message}; ${served}`);
  }

  end(): void {
    if (this.#open === undefined) return;
    const lasted = this.clock() - this.#open.since;
    this.#open = undefined;
    this.log.info({ lasted }, "following the ledger again");
  }
}
