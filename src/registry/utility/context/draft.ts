import type { Contract } from "../../../store/store.js";
import type { AnyValue, ContextAnswer } from "../../registry.js";

const PREFIX = "utility.digitalasset.com/";

/** A contract is always referred to by the same value, so that what has been written of it can be kept with it. */
const references = new WeakMap<Contract, AnyValue>();

/** The names of entries come from the rules alone, so there are few: each is put together once. */
const names = new Map<string, string>();

function prefixed(entry: string): string {
  let name = names.get(entry);
  if (name === undefined) names.set(entry, (name = PREFIX + entry));
  return name;
}

/**
 * A context while it is put together: what refers to a contract also discloses
 * it, so that no contract id stands in a context without its contract.
 */
export class Draft {
  readonly #values: Record<string, AnyValue> = {};
  readonly #disclosed = new Map<string, Contract>();
  readonly #bareNames: boolean;

  /** `bareNames`: whether each entry stands a second time without prefix, for older packages. */
  constructor(bareNames: boolean) {
    this.#bareNames = bareNames;
  }

  put(entry: string, value: AnyValue): void {
    this.#values[prefixed(entry)] = value;
    if (this.#bareNames) this.#values[entry] = value;
  }

  /** The value that refers to a contract, which is disclosed with it. */
  refer(contract: Contract): AnyValue {
    this.disclose(contract);
    let reference = references.get(contract);
    if (reference === undefined) {
      reference = { tag: "AV_ContractId", value: contract.contractId };
      references.set(contract, reference);
    }
    return reference;
  }

  referAll(contracts: readonly Contract[]): AnyValue {
    return { tag: "AV_List", value: contracts.map((contract) => this.refer(contract)) };
  }

  /** Discloses a contract that no entry refers to. */
  disclose(contract: Contract): void {
    this.#disclosed.set(contract.contractId, contract);
  }

  finish(): ContextAnswer {
    return { values: this.#values, disclosed: [...this.#disclosed.values()] };
  }
}
