import type { Contract } from "../../../domain/contract.js";
import { memoizeByContract } from "../../../domain/contract-slots.js";
import type { AnyValue, ContextAnswer, FactoryAnswer, NamedValue } from "../../sdk/registry.js";

/** One value object per contract, so that encoders can keep its encoding with it. */
const referenceTo = memoizeByContract((contract): AnyValue => ({
  tag: "AV_ContractId",
  value: contract.contractId,
  contract,
}));

export interface EntryKey {
  readonly key: string;
  /** The key without prefix, as older packages read it. */
  readonly legacyAlias: string;
}

/** Call it when a module is loaded, not for each request. */
export const entryKey = (name: string): EntryKey => ({
  key: `utility.digitalasset.com/${name}`,
  legacyAlias: name,
});

/** Collects the values and the disclosed contracts of one answer. A contract that a value refers to is disclosed. */
export class ChoiceContextBuilder {
  readonly #values: NamedValue[] = [];
  readonly #disclosed = new Set<Contract>();
  readonly #legacyAliases: boolean;

  constructor(legacyAliases: boolean) {
    this.#legacyAliases = legacyAliases;
  }

  /** Call it once per key. */
  set({ key, legacyAlias }: EntryKey, value: AnyValue): void {
    this.#values.push({ name: key, value });
    if (this.#legacyAliases) this.#values.push({ name: legacyAlias, value });
  }

  reference(contract: Contract): AnyValue {
    this.#disclosed.add(contract);
    return referenceTo(contract);
  }

  referenceAll(contracts: readonly Contract[]): AnyValue {
    const [only] = contracts;
    // Most lists have one element: avoid the closure that `map` needs.
    const value =
      only !== undefined && contracts.length === 1 ? [this.reference(only)] : this.#referenceEach(contracts);
    return { tag: "AV_List", value };
  }

  #referenceEach(contracts: readonly Contract[]): AnyValue[] {
    return contracts.map((contract) => this.reference(contract));
  }

  disclose(contract: Contract): void {
    this.#disclosed.add(contract);
  }

  build(): ContextAnswer {
    return { values: this.#values, disclosed: [...this.#disclosed] };
  }

  /** Builds the answer for a choice on a factory, which must be disclosed. */
  buildForFactory(factory: Contract): FactoryAnswer {
    return { factoryId: factory.contractId, values: this.#values, disclosed: [...this.#disclosed] };
  }
}
