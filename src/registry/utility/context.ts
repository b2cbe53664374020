import { memoizeByContract } from "../../domain/contract-slots.js";
import type { Contract } from "../../domain/contract.js";
import { RegistryError } from "../../domain/errors.js";
import type { AnyValue, ContextAnswer, FactoryAnswer, NamedValue, Recorder } from "../sdk/registry.js";
import type { CompiledCondition } from "./contexts/table.js";
import type { Instruction } from "./instructions.js";
import type { ContractSelector } from "./selector.js";
import type { Holder } from "./credentials.js";

/**
 * What the entries of one request are about. A field is undefined if the operation has no such thing. Parties are never
 * those of special accounts (the source of a mint, the target of a burn).
 */
export interface EntryInputs {
  /**
   * Ids of the instruments, each once. One for most operations, several for a settlement or an allocation with several
   * legs, none for a committed allocation whose legs are given later.
   */
  readonly instruments: readonly string[];
  /**
   * The provider of the request: that of the instruction, or of the instrument's configuration. Undefined only for an
   * instruction of a module that names none.
   */
  readonly provider?: string | undefined;
  /** The sender of a transfer or of the leg of an allocation; the authorizer of an allocation of version 2. */
  readonly sender?: string | undefined;
  /** The instruments that the sender gives away; undefined means all. */
  readonly sent?: readonly string[] | undefined;
  /** The receiver of a transfer or of the leg of an allocation. Undefined while an allocation is created. */
  readonly receiver?: string | undefined;
  /** The parties whose holdings are minted or burned, each once. */
  readonly issuers?: readonly string[] | undefined;
  /** The parties of a settlement, each once, with the instruments that it sends or receives. */
  readonly holders?: readonly Holder[] | undefined;
  /** The factory of a factory operation, on the synchronizer of the answer. */
  readonly factory?: Contract | undefined;
  /** Contract id of the holding that the instruction has locked. */
  readonly lockedHolding?: string | undefined;
  /** Further holdings that it has locked. */
  readonly otherLockedHoldings?: readonly string[] | undefined;
  /** The known allocations of a settlement, in the order of the request. Some may be elsewhere or in reassignment. */
  readonly allocations?: readonly Contract<Instruction>[] | undefined;
  /** The contract on which the choice is exercised: the factory or the instruction. */
  readonly subject?: Contract | undefined;
}

/**
 * An entry of a choice context: how its contracts are found and written. The table of operations has the keys
 * under which the value stands. Methods are synchronous and keep no state, and rethrow what is not a RegistryError: a
 * store that has to fetch lets them find nothing, and calls them again.
 */
export interface ContextEntry {
  /**
   * Finds the contracts and returns the value; undefined leaves the entry out. `builder` makes values that refer to
   * contracts, and discloses these. `selector` has the contracts, and chooses among candidates. The rules that every
   * entry should follow:
   *
   * - Found on the synchronizer of the answer: the newest (`selector.newest`).
   * - Otherwise `selector.missing` decides: "conflict" (409) for a candidate in reassignment; if the entry is `required`,
   *   "not-found" (404) without candidates and "conflict" with candidates elsewhere. Else it returns undefined.
   *
   * `required` is as the line of the table says, and never true for reject, withdraw and cancel.
   */
  value(
    builder: ChoiceContextBuilder,
    selector: ContractSelector,
    inputs: EntryInputs,
    required: boolean,
  ): AnyValue | undefined;
}

/** Contracts that a choice needs although no entry refers to them. */
export interface Disclosure {
  /** Finds the contracts and passes each to `builder.disclose`. Throws as `ContextEntry.value` does. */
  disclose(builder: ChoiceContextBuilder, selector: ContractSelector, inputs: EntryInputs, required: boolean): void;
}

/** The context of one operation, compiled from its row of the table. */
export interface ContextDefinition {
  /** Written in this order. */
  readonly entries: readonly EntryRule[];
  /** Added in this order, after the contracts that the entries refer to. */
  readonly disclosures: readonly DisclosureRule[];
  /** Whether an instrument with `checkBlocklist` is refused: the choice would fail, and no line discloses a blocklist. */
  readonly refusesBlocklist: boolean;
  /** Whether what is not required is left out also where it is elsewhere or in reassignment. */
  readonly allowsMissing: boolean;
}

export interface EntryRule extends Rule {
  readonly part: ContextEntry;
  readonly keys: readonly string[];
}

export interface DisclosureRule extends Rule {
  /** As in the table of operations. */
  readonly name: string;
  readonly part: Disclosure;
}

interface Rule {
  readonly required: boolean;
  readonly requiredWhen: CompiledCondition | undefined;
  readonly when: CompiledCondition | undefined;
}

/** Writes the entries and disclosures of one answer. Throws a RegistryError that names all causes if it cannot be given. */
export function writeContext(
  { entries, disclosures, refusesBlocklist }: ContextDefinition,
  builder: ChoiceContextBuilder,
  selector: ContractSelector,
  inputs: EntryInputs,
): void {
  const { recorder } = selector.context;
  for (const rule of entries) {
    recorder?.entry(rule.keys);
    try {
      if (rule.when !== undefined && !rule.when(selector, inputs)) continue;
      const value = rule.part.value(builder, selector, inputs, isRequired(rule, selector, inputs));
      if (value !== undefined) builder.set(rule.keys, value);
    } catch (error) {
      failPart(selector, error);
    }
  }
  for (const rule of disclosures) {
    recorder?.entry([rule.name]);
    try {
      if (rule.when !== undefined && !rule.when(selector, inputs)) continue;
      rule.part.disclose(builder, selector, inputs, isRequired(rule, selector, inputs));
    } catch (error) {
      failPart(selector, error);
    }
  }
  selector.throwFailures(refusesBlocklist);
}

/** The part of a module may throw; the others are asked all the same. */
function failPart(selector: ContractSelector, error: unknown): void {
  if (!(error instanceof RegistryError)) throw error;
  selector.fail(error);
}

const isRequired = ({ required, requiredWhen }: Rule, selector: ContractSelector, inputs: EntryInputs): boolean =>
  required && (requiredWhen === undefined || requiredWhen(selector, inputs));

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
