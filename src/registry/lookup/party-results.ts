import type { FoundCredential, FoundInstruction, FoundPreapproval, PartyFindings } from "../sdk/registry.js";

/** Of each list. */
const MAX_LISTED = 200;

/** Collects what a search has found, up to a bound. */
export class PartyResults {
  readonly credentials: FoundCredential[] = [];
  readonly preapprovals: FoundPreapproval[] = [];
  readonly instructions: FoundInstruction[] = [];
  /** Whether everything was searched, and what was found fits. */
  isComplete = true;

  add({ credentials = [], preapprovals = [], instructions = [] }: PartyFindings): void {
    this.#append(this.credentials, credentials);
    this.#append(this.preapprovals, preapprovals);
    this.#append(this.instructions, instructions);
  }

  #append<T>(list: T[], found: readonly T[]): void {
    const room = MAX_LISTED - list.length;
    list.push(...found.slice(0, room));
    if (found.length > room) this.isComplete = false;
  }
}
