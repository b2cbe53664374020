/** What a request is about: the values by which a table finds contracts. */
import type { Contract } from "../../domain/contract.js";
import { type Account, accountIn, accountOf } from "../sdk/accounts.js";
import { argumentsReader, type JsonReader } from "../sdk/json-reader.js";
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

/** Throws "invalid" with the path of a field that is missing or wrong. */
export function transferSubject(query: FactoryQuery): Subject {
  const { registrar } = query;
  const transfer = argumentsReader(query).object("transfer");
  const instrument = transfer.object("instrumentId").id("id");
  const [sender, receiver] = [accountIn(transfer, "sender", registrar), accountIn(transfer, "receiver", registrar)];
  return {
    registrar,
    roles: { sender: [sender.party], receiver: [receiver.party] },
    accounts: { own: ordinary([sender, receiver]) },
    refs: { holdings: idsIn(transfer, "inputHoldingCids") },
    hasOwnRefs: true,
    instruments: [instrument],
    isSelf: sender.party === receiver.party,
  };
}

/** Throws "invalid" with the path of a field that is missing or wrong. */
export function allocationSubject(query: FactoryQuery): Subject {
  const { registrar } = query;
  const fields = argumentsReader(query);
  const allocation = fields.object("allocation");
  const holdings = idsIn(fields, "inputHoldingCids");
  if (allocation.raw("transferLegSides") === undefined) {
    const leg = allocation.object("transferLeg");
    const [sender, receiver] = [accountIn(leg, "sender", registrar), accountIn(leg, "receiver", registrar)];
    const executor = allocation.optionalObject("settlement")?.optionalId("executor");
    return {
      registrar,
      roles: { sender: [sender.party], receiver: [receiver.party], executor: executor === undefined ? [] : [executor] },
      accounts: { own: ordinary([sender]), others: ordinary([receiver]) },
      refs: { holdings },
      hasOwnRefs: true,
      instruments: [leg.object("instrumentId").id("id")],
      isSelf: false,
    };
  }
  const sides = allocation.objects("transferLegSides");
  const authorizer = accountOf(allocation.object("authorizer"), registrar);
  const others = sides.map((side) => accountOf(side.object("otherside"), registrar));
  const instruments = [...sides.map((side) => side.id("instrumentId")), ...allocation.mapKeys("nextIterationFunding")];
  return {
    registrar,
    roles: {
      sender: [authorizer.party],
      receiver: [...new Set(others.map(({ party }) => party))],
      executor: executorsIn(fields),
    },
    accounts: { own: ordinary([authorizer]), others: ordinary(others) },
    refs: { holdings },
    hasOwnRefs: true,
    instruments: [...new Set(instruments)],
    isSelf: false,
  };
}

/** Throws "invalid" with the path of a field that is missing or wrong. */
export function settlementSubject(query: FactoryQuery): Subject {
  const { registrar } = query;
  const fields = argumentsReader(query);
  const legs = fields.objects("transferLegs");
  const senders = legs.map((leg) => accountOf(leg.object("sender"), registrar));
  const receivers = legs.map((leg) => accountOf(leg.object("receiver"), registrar));
  return {
    registrar,
    roles: {
      sender: [...new Set(senders.map(({ party }) => party))],
      receiver: [...new Set(receivers.map(({ party }) => party))],
      executor: executorsIn(fields),
    },
    accounts: { own: ordinary([...senders, ...receivers]) },
    refs: { allocations: fields.optionalObjects("allocations").map((allocation) => allocation.id("allocationCid")) },
    hasOwnRefs: true,
    instruments: [...new Set(legs.map((leg) => leg.id("instrumentId")))],
    isSelf: false,
  };
}

/** Of the settlement, in versions 1 and 2. */
function executorsIn(fields: JsonReader): string[] {
  const settlement = fields.optionalObject("settlement");
  if (settlement?.raw("executors") !== undefined) return settlement.texts("executors");
  const executor = settlement?.optionalId("executor");
  return executor === undefined ? [] : [executor];
}

function idsIn(fields: JsonReader, name: string): string[] {
  return fields.raw(name) === undefined ? [] : fields.texts(name).filter((id) => id !== "");
}

/** The source of a mint and the target of a burn have no account of their own. */
const ordinary = (accounts: readonly Account[]): Account[] => accounts.filter(({ isSpecial }) => !isSpecial);
