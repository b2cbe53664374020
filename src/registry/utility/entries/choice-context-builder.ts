import type { Contract } from "../../../domain/contract.js";
import { memoizeByContract } from "../../../domain/contract-slots.js";
import type { AnyValue, ContextAnswer, FactoryAnswer, NamedValue, Recorder } from "../../sdk/registry.js";

/** One value object per contract, so that encoders can keep its encoding with it. */
const referenceTo = memoizeByContract((contract): AnyValue => ({
  tag: "AV_ContractId",
  value: contract.contractId,
  contract,
}));

/**
 * Collects the values and the disclosed contracts of one answer. A contract that a value refers to is disclosed, each
 * contract once, in the order of the first reference. An entry uses `reference`, `referenceAll` and `disclose`; the
 * operation calls the others.
 */
export class ChoiceContextBuilder {
  readonly #values: NamedValue[] = [];
  readonly #disclosed = new Set<Contract>();
  readonly #recorder: Recorder | undefined;

  /** `recorder` is undefined unless the answer is explained. */
  constructor(recorder?: Recorder) {
    this.#recorder = recorder;
  }

  /** Sets the value of each key. Call it once per key. */
  set(keys: readonly string[], value: AnyValue): void {
    for (let index = 0; index < keys.length; index += 2) {
      const name = keys[index];
      if (name !== undefined) this.#values.push({ name, alias: keys[index + 1], value });
    }
  }

  /** An AV_ContractId that refers to the contract, which is then disclosed. It must be on the synchronizer of the answer. */
  reference(contract: Contract): AnyValue {
    this.disclose(contract);
    return referenceTo(contract);
  }

  /** An AV_List of references, in the same order. The contracts must be distinct; an empty list counts as present. */
  referenceAll(contracts: readonly Contract[]): AnyValue {
    return { tag: "AV_List", value: contracts.map((contract) => this.reference(contract)) };
  }

  /** Discloses a contract that no value refers to. It must be on the synchronizer of the answer. */
  disclose(contract: Contract): void {
    this.#disclosed.add(contract);
    this.#recorder?.disclosed(contract);
  }

  /** Builds the answer for a choice on an instruction. */
  build(): ContextAnswer {
    return { values: this.#values, disclosed: [...this.#disclosed] };
  }

  /** Builds the answer for a choice on a factory, which must be disclosed. */
  buildForFactory(factory: Contract): FactoryAnswer {
    return { factoryId: factory.contractId, values: this.#values, disclosed: [...this.#disclosed] };
  }
}
