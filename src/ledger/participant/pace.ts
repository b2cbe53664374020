import { LedgerError } from "./errors.js";

/** Keeps calls from a server that has said, by Retry-After, when it wants to be asked again. */
export class Pace {
  #held: LedgerError | undefined;
  /** Of performance.now. */
  #until = 0;

  /** `error` says in how many milliseconds. */
  hold(error: LedgerError): void {
    this.#held = error;
    this.#until = performance.now() + (error.retryMs ?? 0);
  }

  /** Throws the error until its time has passed, with the milliseconds that are left. */
  check(): void {
    if (this.#held === undefined) return;
    const retryMs = this.#until - performance.now();
    const { kind, message, code, missing, isForbidden, status } = this.#held;
    if (retryMs <= EARLY_MS) this.#held = undefined;
    else throw new LedgerError(kind, message, code, { missing, isForbidden, status, retryMs });
  }
}

/** A timer may end a little before its time. */
const EARLY_MS = 10;
