import type { JsonObject, JsonValue } from "./json.js";
import type { Template } from "./template.js";

/** Past updates, asked from the participant. Methods throw RegistryError "unavailable" if it cannot be asked. */
export interface History {
  /** One update with its events on contracts of the templates; undefined if our parties may see no such update. */
  update(
    which: { readonly updateId: string } | { readonly offset: number },
    templates: readonly Template[],
  ): Promise<Update | undefined>;
  /** The creation of a contract, active or archived. Undefined if the ledger does not know it, or has pruned it. */
  creation(contractId: string, templates: readonly Template[]): Promise<Created | undefined>;
  /**
   * Repeats a query until it returns a value, for as long as an update may still be in transit. Without a value the whole
   * wait passes, whatever was looked up.
   */
  pollUntil<T>(query: () => Promise<T | undefined>): Promise<T | undefined>;
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
  /** Offset of the update that created the contract. */
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
