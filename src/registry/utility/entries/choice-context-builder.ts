import type { Contract } from "../../../domain/contract.js";
import { memoizeByContract } from "../../../domain/contract-slots.js";
import type { AnyValue, ContextAnswer, FactoryAnswer, NamedValue } from "../../sdk/registry.js";

/** A contract is always referred to by the same value, so that what has been written of it can be kept with it. */
const referenceTo = memoizeByContract((contract): AnyValue => ({
  tag: "AV_ContractId",
  value: contract.contractId,
  contract,
}));

/** The name of an entry, with the prefix of the utility and without. */
export interface EntryName {
  readonly legacy: string;
  readonly prefixed: string;
}

/** To be called when a module is loaded, not for each request. */
export const entryName = (legacy: string): EntryName => ({ legacy, prefixed: `utility.digitalasset.com/${legacy}` });

/**
 * A context while it is put together: what refers to a contract also discloses
 * it, so that no contract id stands in a context without its contract.
 */
export class ChoiceContextBuilder {
  readonly #values: NamedValue[] = [];
  readonly #disclosed = new Disclosed();
  readonly #bareNames: boolean;

  /** `bareNames`: whether each entry stands a second time without prefix, for older packages. */
  constructor(bareNames: boolean) {
    this.#bareNames = bareNames;
  }

  /** Each entry is put once. */
  set({ legacy, prefixed }: EntryName, value: AnyValue): void {
    this.#values.push({ name: prefixed, value });
    if (this.#bareNames) this.#values.push({ name: legacy, value });
  }

  /** The value that refers to a contract, which is disclosed with it. */
  reference(contract: Contract): AnyValue {
    this.#disclosed.add(contract);
    return referenceTo(contract);
  }

  referenceAll(contracts: readonly Contract[]): AnyValue {
    const [only] = contracts;
    // Most lists have one element, and `map` would make a function for each.
    const value = only !== undefined && contracts.length === 1 ? [this.reference(only)] : this.#referEach(contracts);
    return { tag: "AV_List", value };
  }

  #referEach(contracts: readonly Contract[]): AnyValue[] {
    return contracts.map((contract) => this.reference(contract));
  }

  /** Discloses a contract that no entry refers to. */
  disclose(contract: Contract): void {
    this.#disclosed.add(contract);
  }

  build(): ContextAnswer {
    return { values: this.#values, disclosed: this.#disclosed.contracts };
  }

  /** The answer for a choice on a factory, which is disclosed. */
  buildForFactory(factory: Contract): FactoryAnswer {
    this.#disclosed.add(factory);
    return { factoryId: factory.contractId, values: this.#values, disclosed: this.#disclosed.contracts };
  }
}

/** How many contracts are looked through one by one: most answers have fewer. */
const FEW = 16;

/** Contracts in the order in which they came, each once. */
class Disclosed {
  readonly contracts: Contract[] = [];
  #known: Set<Contract> | undefined;

  add(contract: Contract): void {
    if (this.contracts.length === FEW) this.#known ??= new Set(this.contracts);
    const isKnown = this.#known === undefined ? this.contracts.includes(contract) : this.#known.has(contract);
    if (isKnown) return;
    this.contracts.push(contract);
    this.#known?.add(contract);
  }
}
