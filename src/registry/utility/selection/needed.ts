import type { CauseFields } from "../../../domain/cause.js";

/** A contract that an answer needs, for messages and causes. */
export interface Needed extends CauseFields {
  /** What messages call it, such as `the TransferRule of registrar acme`. */
  readonly name: string;
  /** Begins the codes of its causes: `rule` gives `rule-missing` and `rule-moving`. */
  readonly kind: string;
}

/** A contract of no particular kind. Entries of a module give the name alone. */
export const neededContract = (name: string, about: CauseFields = {}): Needed => ({ ...about, name, kind: "contract" });
