import type { JsonObject, JsonValue } from "../../domain/json.js";
import type { Template } from "../../domain/template.js";

/**
 * The ledger's updates. Each call reads from the participant, since the store has only active contracts. Every method
 * throws RegistryError "unavailable" if the participant does not answer.
 */
export interface History {
  /** One update, with its events on contracts of the templates. Undefined if it does not exist or is not visible. */
  update(
    which: { readonly updateId: string } | { readonly offset: number },
    templates: readonly Template[],
  ): Promise<Update | undefined>;
  /** The creation of a contract, which may be archived by now. Undefined if it is unknown or pruned. */
  creation(contractId: string, templates: readonly Template[]): Promise<Created | undefined>;
  /**
   * Repeats a query until it returns a value, for as long as an update may take to arrive. Undefined after that time,
   * which is the same for updates that do not exist.
   */
  pollUntil<T>(query: () => Promise<T | undefined>): Promise<T | undefined>;
}

export interface Update {
  readonly events: readonly (Created | Exercised)[];
}

export interface Created {
  readonly does: "create";
  readonly template: Template;
  readonly contractId: string;
  readonly payload: JsonObject;
  /** Offset of the update that created it. */
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
  /** Whether the choice archived the contract. */
  readonly consuming: boolean;
}
