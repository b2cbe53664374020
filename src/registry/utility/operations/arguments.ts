/**
 * The arguments of the factories' choices, in the shapes of the token standard's
 * versions 1 and 2; the page "How a choice context is built" lists them. What
 * the context depends on is read, the rest is ignored.
 */
import { invalid } from "../../errors.js";
import { Fields } from "../../fields.js";
import type { FactoryQuestion } from "../../registry.js";

export interface TransferArguments {
  readonly sender: string;
  readonly receiver: string;
  readonly instrumentId: string;
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

export interface Account {
  readonly owner: string | undefined;
  readonly provider: string | undefined;
  readonly id: string;
  /** The party of the account: its owner, else its provider. */
  readonly party: string;
}

export function transferArguments({ registrar, choiceArguments }: FactoryQuestion): TransferArguments {
  const fields = new Fields(choiceArguments, "choiceArguments");
  mustBe(registrar, fields, "expectedAdmin");
  const transfer = fields.object("transfer");
  const instrument = transfer.object("instrumentId");
  const instrumentId = instrument.id("id");
  instrument.id("admin");
  mustBe(registrar, instrument, "admin");
  return { sender: partyOf(transfer, "sender"), receiver: partyOf(transfer, "receiver"), instrumentId };
}

export function settlementArguments({ registrar, choiceArguments }: FactoryQuestion): SettlementArguments {
  const fields = new Fields(choiceArguments, "choiceArguments");
  mustBe(registrar, fields, "expectedAdmin");
  const legs = fields.objects("transferLegs").map((leg) => ({
    sender: account(leg.object("sender")),
    receiver: account(leg.object("receiver")),
    instrumentId: leg.id("instrumentId"),
  }));
  if (legs.length === 0) throw invalid("choiceArguments.transferLegs is empty: a settlement has at least one leg");
  const allocations = fields.objects("allocations").map((allocation) => allocation.id("allocationCid"));
  return { legs, allocations: [...new Set(allocations)] };
}

/** An admin that the arguments name has to be the registrar of the path. */
function mustBe(registrar: string, fields: Fields, name: string): void {
  const named = fields.optionalId(name);
  if (named !== undefined && named !== registrar) {
    throw invalid(
      `${fields.path(name)} is ${named}, and the registrar asked is ${registrar}: they have to be the same`,
    );
  }
}

/** Version 1 names a party, version 2 an account. */
function partyOf(fields: Fields, name: string): string {
  return typeof fields.raw(name) === "string" ? fields.id(name) : account(fields.object(name)).party;
}

function account(fields: Fields): Account {
  const owner = fields.optionalId("owner");
  const provider = fields.optionalId("provider");
  const party = owner ?? provider;
  if (party === undefined)
    throw invalid(`${fields.path("owner")} is missing, and so is the provider: an account needs one`);
  return { owner, provider, id: fields.raw("id") === undefined ? "" : fields.text("id"), party };
}
