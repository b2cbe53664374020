/** The arguments of the factories' choices, in versions 1 and 2 of the token standard. */
import { type Account, accountIn, accountOf, argumentsReader, type JsonReader } from "./sdk/json-reader.js";
import type { FactoryQuery } from "./sdk/registry.js";

/** What a factory request may say besides what its choice is about. */
interface FactoryArguments {
  /** Contract ids of the holdings that are spent; empty while a client has not chosen them. */
  readonly inputHoldings: readonly string[];
  /** The synchronizer on which the wallet will submit; undefined if it does not say. */
  readonly targetSynchronizer: string | undefined;
}

export interface TransferArguments extends FactoryArguments {
  readonly sender: Account;
  readonly receiver: Account;
  readonly instrumentId: string;
}

export interface AllocationArguments extends FactoryArguments {
  /** The sender of the leg in version 1, the authorizer in version 2. */
  readonly sender: Account;
  /** Every instrument, each once. Empty for a committed allocation whose legs are given later. */
  readonly instruments: readonly string[];
  readonly sent: readonly string[];
  readonly sides: number;
  /** The accounts on the other sides of its legs, where the request names them. Reading them may throw "invalid". */
  readonly others: () => readonly Account[];
  /** As `others`. */
  readonly executors: () => readonly string[];
}

export interface SettlementArguments {
  readonly targetSynchronizer: string | undefined;
  readonly legs: readonly Leg[];
  /** The allocations to settle, each contract id once. */
  readonly allocations: readonly SettledAllocation[];
  /** Reading them may throw "invalid". */
  readonly executors: () => readonly string[];
}

export interface Leg {
  readonly sender: Account;
  readonly receiver: Account;
  readonly instrumentId: string;
}

export interface SettledAllocation {
  readonly contractId: string;
  /** Sides of legs that the allocation itself does not have. */
  readonly extraSides: readonly { readonly otherSide: Account; readonly instrumentId: string }[];
  /** Instruments of which the allocation funds the next iteration. */
  readonly nextIterationFunding: readonly string[];
}

export function transferArguments(query: FactoryQuery): TransferArguments {
  const { registrar } = query;
  const fields = argumentsReader(query);
  checkRegistrar(registrar, fields, "expectedAdmin");
  const transfer = fields.object("transfer");
  const instrumentId = readInstrumentId(registrar, transfer);
  const [sender, receiver] = [accountIn(transfer, "sender", registrar), accountIn(transfer, "receiver", registrar)];
  return {
    sender,
    receiver,
    instrumentId,
    inputHoldings: idsIn(transfer, "inputHoldingCids"),
    targetSynchronizer: targetSynchronizer(fields),
  };
}

export function allocationArguments(query: FactoryQuery): AllocationArguments {
  const { registrar } = query;
  const fields = argumentsReader(query);
  checkRegistrar(registrar, fields, "expectedAdmin");
  const allocation = fields.object("allocation");
  const more = {
    inputHoldings: idsIn(fields, "inputHoldingCids"),
    targetSynchronizer: targetSynchronizer(fields),
  };
  if (allocation.raw("transferLegSides") === undefined) {
    if (allocation.raw("transferLeg") !== undefined)
      return {
        ...readLeg(registrar, allocation.object("transferLeg")),
        executors: () => executorsIn(allocation),
        ...more,
      };
    const expected = "transferLeg (version 1) or transferLegSides (version 2)";
    throw allocation.invalid("transferLeg", `is missing: an allocation needs ${expected}`);
  }
  allocation.id("admin");
  checkRegistrar(registrar, allocation, "admin");
  const sides = allocation.objects("transferLegSides").map((side) => ({
    instrumentId: side.id("instrumentId"),
    isSent: side.oneOf("side", ["SenderSide", "ReceiverSide"]) === "SenderSide",
    side,
  }));
  const funded = allocation.mapKeys("nextIterationFunding");
  const sent = sides.filter(({ isSent }) => isSent).map(({ instrumentId }) => instrumentId);
  return {
    sender: accountOf(allocation.object("authorizer"), registrar),
    instruments: [...new Set([...sides.map(({ instrumentId }) => instrumentId), ...funded])],
    sent: [...new Set([...sent, ...funded])],
    sides: sides.length,
    others: () =>
      sides.flatMap(({ side }) => {
        const other = side.optionalObject("otherside");
        return other === undefined ? [] : [accountOf(other, registrar)];
      }),
    executors: () => executorsIn(fields),
    ...more,
  };
}

function readLeg(registrar: string, leg: JsonReader): Omit<AllocationArguments, keyof FactoryArguments | "executors"> {
  const instruments = [readInstrumentId(registrar, leg)];
  const others = () => (leg.raw("receiver") === undefined ? [] : [accountIn(leg, "receiver", registrar)]);
  return { sender: accountIn(leg, "sender", registrar), others, instruments, sent: instruments, sides: 1 };
}

export function settlementArguments(query: FactoryQuery): SettlementArguments {
  const { registrar } = query;
  const fields = argumentsReader(query);
  checkRegistrar(registrar, fields, "expectedAdmin");
  const legs = fields.objects("transferLegs").map((leg) => ({
    sender: accountOf(leg.object("sender"), registrar),
    receiver: accountOf(leg.object("receiver"), registrar),
    instrumentId: leg.id("instrumentId"),
  }));
  if (legs.length === 0) throw fields.invalid("transferLegs", "is empty: a settlement needs at least one leg");
  const allocations = new Map<string, SettledAllocation>();
  for (const allocation of fields.objects("allocations")) {
    const read = readAllocation(registrar, allocation);
    const known = allocations.get(read.contractId);
    allocations.set(read.contractId, known === undefined ? read : merge(known, read));
  }
  return {
    legs,
    allocations: [...allocations.values()],
    executors: () => executorsIn(fields),
    targetSynchronizer: targetSynchronizer(fields),
  };
}

/** Of the settlement, in versions 1 and 2. */
function executorsIn(fields: JsonReader): string[] {
  const settlement = fields.optionalObject("settlement");
  if (settlement?.raw("executors") !== undefined) return settlement.texts("executors");
  const executor = settlement?.optionalId("executor");
  return executor === undefined ? [] : [executor];
}

/** The contract ids in a list that may be absent. Requests for factories depend on them only if a registrar has several providers. */
function idsIn(fields: JsonReader, name: string): readonly string[] {
  const value = fields.raw(name);
  return Array.isArray(value) ? (value.filter((id) => typeof id === "string" && id !== "") as string[]) : [];
}

/** A field of wallets, which no choice has. Empty: none. */
function targetSynchronizer(fields: JsonReader): string | undefined {
  const name = "_targetSynchronizerId";
  return fields.raw(name) === undefined || fields.text(name) === "" ? undefined : fields.text(name);
}

/** The synchronizer on which the wallet will submit; undefined if it does not say. Throws "invalid" if it is no text. */
export const targetSynchronizerOf = (query: FactoryQuery): string | undefined =>
  targetSynchronizer(argumentsReader(query));

/** The instruments of the legs, then those that only an allocation names. */
export function distinctInstruments({ legs, allocations }: SettlementArguments): string[] {
  const instruments = new Set(legs.map(({ instrumentId }) => instrumentId));
  for (const { extraSides, nextIterationFunding } of allocations) {
    for (const { instrumentId } of extraSides) instruments.add(instrumentId);
    for (const instrumentId of nextIterationFunding) instruments.add(instrumentId);
  }
  return [...instruments];
}

function readAllocation(registrar: string, fields: JsonReader): SettledAllocation {
  return {
    contractId: fields.id("allocationCid"),
    extraSides: fields.optionalObjects("extraTransferLegSides").map((side) => ({
      otherSide: accountOf(side.object("otherside"), registrar),
      instrumentId: side.id("instrumentId"),
    })),
    nextIterationFunding: fields.mapKeys("nextIterationFunding"),
  };
}

const merge = (a: SettledAllocation, b: SettledAllocation): SettledAllocation => ({
  contractId: a.contractId,
  extraSides: [...a.extraSides, ...b.extraSides],
  nextIterationFunding: [...a.nextIterationFunding, ...b.nextIterationFunding],
});

/** The id of an instrument whose admin must be the registrar. */
function readInstrumentId(registrar: string, fields: JsonReader): string {
  const instrument = fields.object("instrumentId");
  const id = instrument.id("id");
  instrument.id("admin");
  checkRegistrar(registrar, instrument, "admin");
  return id;
}

/** If the field is present, it must equal the registrar of the path. */
function checkRegistrar(registrar: string, fields: JsonReader, name: string): void {
  const named = fields.optionalId(name);
  if (named !== undefined && named !== registrar) {
    throw fields.invalid(name, `is ${named}, but the registrar of the request is ${registrar}`);
  }
}
