import type { Contract } from "../../../store/store.js";
import type { AnyValue, ContextAnswer } from "../../registry.js";

const PREFIX = "utility.digitalasset.com/";

/**
 * A context while it is put together: what refers to a contract also discloses
 * it, so that no contract id stands in a context without its contract.
 */
export class Draft {
  readonly #values = new Map<string, AnyValue>();
  readonly #disclosed = new Map<string, Contract>();
  readonly #bareNames: boolean;

  /** `bareNames`: whether each entry stands a second time without prefix, for older packages. */
  constructor(bareNames: boolean) {
    this.#bareNames = bareNames;
  }

  put(entry: string, value: AnyValue): void {
    this.#values.set(PREFIX + entry, value);
    if (this.#bareNames) this.#values.set(entry, value);
  }

  /** The value that refers to a contract, which is disclosed with it. */
  refer(contract: Contract): AnyValue {
    this.disclose(contract);
    return { tag: "AV_ContractId", value: contract.contractId };
  }

  referAll(contracts: readonly Contract[]): AnyValue {
    return { tag: "AV_List", value: contracts.map((contract) => this.refer(contract)) };
  }

  /** Discloses a contract that no entry refers to. */
  disclose(contract: Contract): void {
    this.#disclosed.set(contract.contractId, contract);
  }

  finish(): ContextAnswer {
    return { values: Object.fromEntries(this.#values), disclosed: [...this.#disclosed.values()] };
  }
}
