/** What a request for a factory is about. Each throws "invalid" with the path of a field that is missing or wrong. */
import {
  allocationArguments,
  distinctInstruments,
  settlementArguments,
  type TransferArguments,
  transferArguments,
} from "../factory-arguments.js";
import type { Account } from "../account.js";
import type { Factory, FactoryQuery } from "../sdk/registry.js";
import type { RequestSubject } from "./choice-context.js";

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
