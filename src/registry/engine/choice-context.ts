/** An answer: the lines of its operation, what they are about, and the builder that collects what they write. */
import type { Contract } from "../../domain/contract.js";
import { RegistryError } from "../../domain/errors.js";
import type { JsonObject } from "../../util/json.js";
import type { Account } from "../account.js";
import {
  allocationArguments,
  distinctInstruments,
  settlementArguments,
  type TransferArguments,
  transferArguments,
} from "../factory-arguments.js";
import type {
  AnyValue,
  ContextResult,
  Factory,
  FactoryQuery,
  FactoryResult,
  NamedValue,
  Recorder,
  RequestContext,
} from "../sdk/registry.js";
import { ContractSelector, type Group } from "./selector.js";
import type { Named, TableFields } from "./templates.js";

/** A party with the instruments that it sends, receives or holds. */
export interface Holder {
  readonly party: string;
  readonly instruments: readonly string[];
}

/**
 * What the entries of one request are about. A field is undefined if the operation has no such thing. Parties are never
 * those of special accounts (the source of a mint, the target of a burn).
 */
export interface RequestSubject {
  /**
   * Ids of the instruments, each once. One for most operations, several for a settlement or an allocation with several
   * legs, none for a committed allocation whose legs are given later.
   */
  readonly instruments: readonly string[];
  /**
   * Parties by role: `sender` and `receiver` of a transfer or of the leg of an allocation (of version 2 its authorizer is
   * the sender), `holder` whose holdings are minted or burned, `provider`, `executor`, and those that a registry file names.
   */
  readonly roles: Named<string>;
  /** Accounts of version 2 by what they are of: `own` are those of the parties who act. */
  readonly accounts?: Named<Account> | undefined;
  /** Contract ids by what they are of: `locked` holdings, input `holdings`, `allocations`, and those of a registry file. */
  readonly refs?: Named<string> | undefined;
  /** Whether `refs` come from the request: the ledger may have contracts of them that the store does not have yet. */
  readonly hasOwnRefs?: boolean | undefined;
  /** The metadata that the caller passes to the choice. */
  readonly meta?: JsonObject | undefined;
  /** Whether a transfer is to its sender. */
  readonly isSelf?: boolean | undefined;
  /** The instruments that the sender gives away; undefined means all. */
  readonly sent?: readonly string[] | undefined;
  /** The parties of a settlement, each once. */
  readonly holders?: readonly Holder[] | undefined;
  /** The factory of a factory operation, on the synchronizer of the answer. */
  readonly factory?: Contract | undefined;
  /** The known allocations of a settlement, in the order of the request. Some may be elsewhere or in reassignment. */
  readonly allocations?: readonly Contract<TableFields>[] | undefined;
  /** The contract on which the choice is exercised: the factory or the instruction. */
  readonly contract?: Contract | undefined;
}

/** What a choice on an instruction is about. */
export const subjectOf = (instruction: Contract<TableFields>, meta?: JsonObject): RequestSubject => {
  const { instruments, roles, refs, accounts } = instruction.fields;
  return {
    instruments: instruments.length < 2 ? instruments : [...new Set(instruments)],
    roles,
    accounts,
    refs,
    meta,
    contract: instruction,
  };
};

/** What a request for a factory is about. Throws "invalid" with the path of a field that is missing or wrong. */
export function factorySubject(operation: Factory, query: FactoryQuery): RequestSubject {
  if (operation === "transfer-factory") return transferSubject(transferArguments(query));
  return operation === "allocation-factory" ? allocationSubject(query) : settlementSubject(query);
}

export const transferSubject = ({
  sender,
  receiver,
  instrumentId,
  inputHoldings,
}: TransferArguments): RequestSubject => ({
  instruments: [instrumentId],
  roles: { sender: sender.isSpecial ? [] : [sender.party], receiver: receiver.isSpecial ? [] : [receiver.party] },
  accounts: { own: [sender, receiver] },
  refs: { holdings: inputHoldings },
  hasOwnRefs: true,
  isSelf: sender.party === receiver.party,
});

function allocationSubject(query: FactoryQuery): RequestSubject {
  const { sender, others: readOthers, executors, instruments, inputHoldings } = allocationArguments(query);
  const others = readOthers();
  return {
    instruments,
    roles: { sender: partiesOf([sender]), receiver: partiesOf(others), executor: executors() },
    accounts: { own: [sender], others },
    refs: { holdings: inputHoldings },
    hasOwnRefs: true,
  };
}

function settlementSubject(query: FactoryQuery): RequestSubject {
  const settlement = settlementArguments(query);
  const { legs, allocations, executors } = settlement;
  const [senders, receivers] = [legs.map(({ sender }) => sender), legs.map(({ receiver }) => receiver)];
  return {
    instruments: distinctInstruments(settlement),
    roles: { sender: partiesOf(senders), receiver: partiesOf(receivers), executor: executors() },
    accounts: { own: [...senders, ...receivers] },
    refs: { allocations: allocations.map(({ contractId }) => contractId) },
    hasOwnRefs: true,
  };
}

/** The source of a mint and the target of a burn have none. */
const partiesOf = (accounts: readonly Account[]): string[] => [
  ...new Set(accounts.flatMap(({ party, isSpecial }) => (isSpecial ? [] : party))),
];

/** What a line is written with. */
export type LineArguments = [
  builder: ChoiceContextBuilder,
  selector: ContractSelector,
  subject: RequestSubject,
  required: boolean,
];

/** `of`: the accounts that count. */
export type EntryArguments = [...line: LineArguments, of?: readonly string[]];

/**
 * An entry of a choice context: how its contracts are found and written. What it lacks, the lines of a table cannot ask of it.
 * Methods are synchronous and keep no state. `builder` makes values that refer to contracts, and discloses these. `selector`
 * has the contracts, and chooses among candidates. The rules that every entry should follow:
 *
 * - Found on the synchronizer of the answer: the newest (`selector.newest`).
 * - Otherwise `selector.missing` decides: "conflict" (409) for a candidate in reassignment; if the entry is `required`,
 *   "not-found" (404) without candidates and "conflict" with candidates elsewhere. Else it returns undefined.
 *
 * `required` is as the line of the table says, and never true for reject, withdraw and cancel.
 */
export interface EntryPart {
  /** The value, whose contracts are disclosed; undefined leaves the entry out. The table has the keys under which it stands. */
  value?(...line: EntryArguments): AnyValue | undefined;
  /** Discloses contracts that a choice needs although no entry refers to them. */
  disclose?(...line: EntryArguments): void;
  /** The answer fails without its contracts, wherever they are. */
  require?(selector: ContractSelector, subject: RequestSubject): void;
  /** Whether there is a contract, which is disclosed unless there is no builder. */
  exists?(builder: ChoiceContextBuilder | undefined, selector: ContractSelector, subject: RequestSubject): AnyValue;
  /** Whether there is a contract. */
  has?(selector: ContractSelector, subject: RequestSubject): boolean;
}

/** Whether a line applies to a request. */
export type LineCondition = (selector: ContractSelector, subject: RequestSubject) => boolean;

/** One line of an operation. */
export interface ContextLine {
  /** Of the entry or disclosure, as in the table. */
  readonly name: string;
  /** Those under which the value stands; none for a disclosure. */
  readonly keys: readonly string[];
  /** Returns the value of an entry. */
  readonly write: (...line: LineArguments) => AnyValue | undefined | void;
  readonly required: boolean;
  /** Whether what is not required is left out also where it is elsewhere or in reassignment. */
  readonly allowsMissing?: boolean | undefined;
  readonly when?: LineCondition | undefined;
}

/** The context of one operation. */
export interface ContextDefinition {
  /** Written in this order. */
  readonly lines: readonly ContextLine[];
  /** The same with all required that the choice on the ledger needs; absent if that is no more. */
  readonly strictLines?: readonly ContextLine[] | undefined;
  /** Whether the operation only ends something: it must be possible whatever the ledger does not tell. */
  readonly isExit?: boolean;
}

/** As the ledger needs it. */
export const strictly = <D extends ContextDefinition>(definition: D): D => ({
  ...definition,
  lines: definition.strictLines ?? definition.lines,
});

/**
 * Writes an answer whose contracts are all of the group and on the synchronizer. Throws a RegistryError that names all
 * causes if it cannot be given.
 */
export function writeContext(
  context: RequestContext,
  { lines, isExit = false }: ContextDefinition,
  group: Group,
  synchronizer: string,
  subject: RequestSubject,
): ChoiceContextBuilder {
  const { recorder } = context;
  const builder = new ChoiceContextBuilder(recorder);
  const selector = new ContractSelector(context, group, synchronizer);
  for (const { name, keys, write, required, allowsMissing = false, when } of lines) {
    recorder?.entry(keys.length === 0 ? [name] : keys);
    selector.allowsMissing = allowsMissing;
    selector.allowsUntold = allowsMissing || isExit;
    try {
      if (when !== undefined && !when(selector, subject)) continue;
      const value = write(builder, selector, subject, required);
      if (value !== undefined) builder.set(keys, value);
    } catch (error) {
      // The part of a module may throw; the others are asked all the same.
      if (!(error instanceof RegistryError)) throw error;
      selector.fail(error);
    }
  }
  selector.finish();
  return builder;
}

/**
 * Collects the values and the disclosed contracts of one answer. A contract that a value refers to is disclosed, each
 * contract once, in the order of the first reference. An entry uses `reference`, `referenceAll` and `disclose`; the
 * operation calls the others.
 */
export class ChoiceContextBuilder {
  readonly #values: NamedValue[] = [];
  readonly #disclosed = new Set<Contract>();

  /** `recorder` is undefined unless the answer is explained. */
  constructor(private readonly recorder?: Recorder) {}

  /** Sets the value of each key. Call it once per key. */
  set(keys: readonly string[], value: AnyValue): void {
    for (const name of keys) this.#values.push({ name, value });
  }

  /** An AV_ContractId that refers to the contract, which is then disclosed. It must be on the synchronizer of the answer. */
  reference(contract: Contract): AnyValue {
    this.disclose(contract);
    return { tag: "AV_ContractId", value: contract.contractId };
  }

  /** An AV_List of references, in the same order. The contracts must be distinct; an empty list counts as present. */
  referenceAll(contracts: readonly Contract[]): AnyValue {
    return { tag: "AV_List", value: contracts.map((contract) => this.reference(contract)) };
  }

  /** Discloses a contract that no value refers to. It must be on the synchronizer of the answer. */
  disclose(contract: Contract): void {
    this.#disclosed.add(contract);
    this.recorder?.disclosed(contract);
  }

  /** Builds the answer for a choice on an instruction. */
  build(): ContextResult {
    return { values: this.#values, disclosed: [...this.#disclosed] };
  }

  /** Builds the answer for a choice on a factory, which must be disclosed. */
  buildForFactory(factory: Contract): FactoryResult {
    return { factoryId: factory.contractId, values: this.#values, disclosed: [...this.#disclosed] };
  }
}
