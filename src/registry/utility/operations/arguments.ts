/**
 * The arguments of the factories' choices, in the shapes of the token standard's
 * versions 1 and 2; the page "How a choice context is built" lists them. What
 * the context depends on is read, the rest is ignored.
 */
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
  /** The party that gives away: the sender of the leg, or who authorizes. */
  readonly sender: string;
  /** Every instrument, each once. */
  readonly instruments: readonly string[];
  /** The instruments that the sender gives away. */
  readonly sent: readonly string[];
  /** How many sides of legs it has. */
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
  mustBe(registrar, fields, "expectedAdmin");
  const transfer = fields.object("transfer");
  const instrumentId = instrumentOf(registrar, transfer);
  return { sender: partyOf(transfer, "sender"), receiver: partyOf(transfer, "receiver"), instrumentId };
}

export function allocationArguments({ registrar, choiceArguments }: FactoryQuery): AllocationArguments {
  const fields = new JsonReader(choiceArguments, "choiceArguments");
  mustBe(registrar, fields, "expectedAdmin");
  const allocation = fields.object("allocation");
  if (allocation.raw("transferLegSides") === undefined) {
    if (allocation.raw("transferLeg") !== undefined) return legOf(registrar, allocation.object("transferLeg"));
    const versions = "transferLeg, as version 1 has it, or transferLegSides, as version 2 does";
    throw invalid(`${allocation.path("transferLeg")} is missing: an allocation has ${versions}`);
  }
  allocation.id("admin");
  mustBe(registrar, allocation, "admin");
  const sides = allocation.objects("transferLegSides").map((side) => ({
    instrumentId: side.id("instrumentId"),
    isSent: side.oneOf("side", ["SenderSide", "ReceiverSide"]) === "SenderSide",
  }));
  if (sides.length === 0)
    throw invalid(`${allocation.path("transferLegSides")} is empty: an allocation has at least one`);
  return {
    sender: accountOf(allocation.object("authorizer")).party,
    instruments: [...new Set(sides.map(({ instrumentId }) => instrumentId))],
    sent: [...new Set(sides.filter(({ isSent }) => isSent).map(({ instrumentId }) => instrumentId))],
    sides: sides.length,
  };
}

/** An allocation of version 1 is for one leg. */
function legOf(registrar: string, leg: JsonReader): AllocationArguments {
  const instruments = [instrumentOf(registrar, leg)];
  return { sender: partyOf(leg, "sender"), instruments, sent: instruments, sides: 1 };
}

export function settlementArguments({ registrar, choiceArguments }: FactoryQuery): SettlementArguments {
  const fields = new JsonReader(choiceArguments, "choiceArguments");
  mustBe(registrar, fields, "expectedAdmin");
  const legs = fields.objects("transferLegs").map((leg) => ({
    sender: accountOf(leg.object("sender")),
    receiver: accountOf(leg.object("receiver")),
    instrumentId: leg.id("instrumentId"),
  }));
  if (legs.length === 0) throw invalid("choiceArguments.transferLegs is empty: a settlement has at least one leg");
  const allocations = fields.objects("allocations").map((allocation) => allocation.id("allocationCid"));
  return { legs, allocations: [...new Set(allocations)] };
}

/** The id of an instrument whose admin has to be the registrar. */
function instrumentOf(registrar: string, fields: JsonReader): string {
  const instrument = fields.object("instrumentId");
  const id = instrument.id("id");
  instrument.id("admin");
  mustBe(registrar, instrument, "admin");
  return id;
}

/** An admin that the arguments name has to be the registrar of the path. */
function mustBe(registrar: string, fields: JsonReader, name: string): void {
  const named = fields.optionalId(name);
  if (named !== undefined && named !== registrar) {
    throw invalid(
      `${fields.path(name)} is ${named}, and the registrar asked is ${registrar}: they have to be the same`,
    );
  }
}
