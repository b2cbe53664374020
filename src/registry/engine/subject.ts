/** What a request is about: the values by which a table finds contracts. */
import type { Contract } from "../../domain/contract.js";
import {
  allocationArguments,
  distinctInstruments,
  settlementArguments,
  transferArguments,
} from "../factory-arguments.js";
import type { Account } from "../sdk/accounts.js";
import type { FactoryQuery } from "../sdk/queries.js";
import type { Named, TableFields } from "./templates.js";

export interface Subject {
  readonly registrar: string;
  /** Parties by role: sender, receiver, executor, and those that the file names. */
  readonly roles: Named<string>;
  /** `own` are those of the parties who act. */
  readonly accounts: Named<Account>;
  readonly refs: Named<string>;
  /** Whether `refs` come from the request: the ledger may have contracts of them that the store does not have yet. */
  readonly hasOwnRefs: boolean;
  /** Each once. */
  readonly instruments: readonly string[];
  /** Whether a transfer is to its sender. */
  readonly isSelf: boolean;
}

/** What a choice on a contract is about. */
export function subjectOf({ fields }: Contract<TableFields>, registrar: string): Subject {
  const { roles, accounts, refs, instruments } = fields;
  return { registrar, roles, accounts, refs, hasOwnRefs: false, instruments: [...new Set(instruments)], isSelf: false };
}

/** Throws "invalid" with the path of a field that is missing or wrong, as those below. */
export function transferSubject(query: FactoryQuery): Subject {
  const { sender, receiver, instrumentId, inputHoldings } = transferArguments(query);
  return {
    registrar: query.registrar,
    roles: { sender: [sender.party], receiver: [receiver.party] },
    accounts: { own: ordinary([sender, receiver]) },
    refs: { holdings: inputHoldings },
    hasOwnRefs: true,
    instruments: [instrumentId],
    isSelf: sender.party === receiver.party,
  };
}

export function allocationSubject(query: FactoryQuery): Subject {
  const { sender, others: readOthers, executors, instruments, inputHoldings } = allocationArguments(query);
  const others = readOthers();
  return {
    registrar: query.registrar,
    roles: { sender: [sender.party], receiver: partiesOf(others), executor: executors() },
    accounts: { own: ordinary([sender]), others: ordinary(others) },
    refs: { holdings: inputHoldings },
    hasOwnRefs: true,
    instruments,
    isSelf: false,
  };
}

export function settlementSubject(query: FactoryQuery): Subject {
  const settlement = settlementArguments(query);
  const { legs, allocations, executors } = settlement;
  const [senders, receivers] = [legs.map(({ sender }) => sender), legs.map(({ receiver }) => receiver)];
  return {
    registrar: query.registrar,
    roles: { sender: partiesOf(senders), receiver: partiesOf(receivers), executor: executors() },
    accounts: { own: ordinary([...senders, ...receivers]) },
    refs: { allocations: allocations.map(({ contractId }) => contractId) },
    hasOwnRefs: true,
    instruments: distinctInstruments(settlement),
    isSelf: false,
  };
}

const partiesOf = (accounts: readonly Account[]): string[] => [...new Set(accounts.map(({ party }) => party))];

/** The source of a mint and the target of a burn have no account of their own. */
const ordinary = (accounts: readonly Account[]): Account[] => accounts.filter(({ isSpecial }) => !isSpecial);
