/** The arguments of the factories' choices, in versions 1 and 2 of the token standard. */
import { type Account, accountOf, partyOf } from "../../sdk/accounts.js";
import { invalid } from "../../../domain/errors.js";
import { JsonReader } from "../../sdk/json-reader.js";
import type { FactoryQuery } from "../../sdk/registry.js";

export interface TransferArguments {
  readonly sender: string;
  readonly receiver: string;
  readonly instrumentId: string;
}

export interface AllocationArguments {
  /** The sender of the leg in version 1, the authorizer in version 2. */
  readonly sender: string;
  /** Every instrument, each once. */
  readonly instruments: readonly string[];
  readonly sent: readonly string[];
  readonly sides: number;
}

export interface SettlementArguments {
  readonly legs: readonly Leg[];
  /** Contract ids of the allocations to settle, each once. */
  readonly allocations: readonly string[];
}

export interface Leg {
  readonly sender: Account;
  readonly receiver: Account;
  readonly instrumentId: string;
}

export function transferArguments({ registrar, choiceArguments }: FactoryQuery): TransferArguments {
  const fields = new JsonReader(choiceArguments, "choiceArguments");
  checkRegistrar(registrar, fields, "expectedAdmin");
  const transfer = fields.object("transfer");
  const instrumentId = readInstrumentId(registrar, transfer);
  return { sender: partyOf(transfer, "sender"), receiver: partyOf(transfer, "receiver"), instrumentId };
}

export function allocationArguments({ registrar, choiceArguments }: FactoryQuery): AllocationArguments {
  const fields = new JsonReader(choiceArguments, "choiceArguments");
  checkRegistrar(registrar, fields, "expectedAdmin");
  const allocation = fields.object("allocation");
  if (allocation.raw("transferLegSides") === undefined) {
    if (allocation.raw("transferLeg") !== undefined) return readLeg(registrar, allocation.object("transferLeg"));
    const expected = "transferLeg (version 1) or transferLegSides (version 2)";
    throw invalid(`${allocation.path("transferLeg")} is missing: an allocation needs ${expected}`);
  }
  allocation.id("admin");
  checkRegistrar(registrar, allocation, "admin");
  const sides = allocation.objects("transferLegSides").map((side) => ({
    instrumentId: side.id("instrumentId"),
    isSent: side.oneOf("side", ["SenderSide", "ReceiverSide"]) === "SenderSide",
  }));
  if (sides.length === 0)
    throw invalid(`${allocation.path("transferLegSides")} is empty: an allocation needs at least one`);
  return {
    sender: accountOf(allocation.object("authorizer")).party,
    instruments: [...new Set(sides.map(({ instrumentId }) => instrumentId))],
    sent: [...new Set(sides.filter(({ isSent }) => isSent).map(({ instrumentId }) => instrumentId))],
    sides: sides.length,
  };
}

function readLeg(registrar: string, leg: JsonReader): AllocationArguments {
  const instruments = [readInstrumentId(registrar, leg)];
  return { sender: partyOf(leg, "sender"), instruments, sent: instruments, sides: 1 };
}

export function settlementArguments({ registrar, choiceArguments }: FactoryQuery): SettlementArguments {
  const fields = new JsonReader(choiceArguments, "choiceArguments");
  checkRegistrar(registrar, fields, "expectedAdmin");
  const legs = fields.objects("transferLegs").map((leg) => ({
    sender: accountOf(leg.object("sender")),
    receiver: accountOf(leg.object("receiver")),
    instrumentId: leg.id("instrumentId"),
  }));
  if (legs.length === 0) throw invalid("choiceArguments.transferLegs is empty: a settlement needs at least one leg");
  const allocations = fields.objects("allocations").map((allocation) => allocation.id("allocationCid"));
  return { legs, allocations: [...new Set(allocations)] };
}

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
    throw invalid(`${fields.path(name)} is ${named}, but the registrar of the request is ${registrar}`);
  }
}
