import type { JsonObject, JsonValue } from "../../domain/json.js";
import type { Template } from "../../domain/template.js";

/**
 * The ledger's updates, one at a time. They are read from the participant for
 * each question: the store knows what is, not what has been. Every method
 * throws RegistryError "unavailable" where the ledger cannot be asked.
 */
export interface History {
  /**
   * One update, with its events on contracts of the kinds. Undefined where the
   * ledger has no such update, or none that we may see.
   */
  update(
    which: { readonly updateId: string } | { readonly offset: number },
    templates: readonly Template[],
  ): Promise<Update | undefined>;
  /** How a contract of one of the kinds came to be, be it archived. Undefined where the ledger does not know, or no longer. */
  creation(contractId: string, templates: readonly Template[]): Promise<Created | undefined>;
  /**
   * Puts a question until it has an answer, for as long as an update may be on its
   * way to us: what is not there yet and what never comes take equally long.
   */
  pollUntil<T>(question: () => Promise<T | undefined>): Promise<T | undefined>;
}

export interface Update {
  /** In the order in which they happened. */
  readonly events: readonly (Created | Exercised)[];
}

export interface Created {
  readonly does: "create";
  readonly template: Template;
  readonly contractId: string;
  readonly payload: JsonObject;
  /** Offset of the update in which it was created. */
  readonly offset: number;
}

export interface Exercised {
  readonly does: "exercise";
  readonly template: Template;
  readonly contractId: string;
  /** For example `TransferInstruction_Accept`. */
  readonly choice: string;
  readonly argument: JsonValue;
  readonly result: JsonValue;
  /** Whether the contract was archived by it. */
  readonly consuming: boolean;
}
