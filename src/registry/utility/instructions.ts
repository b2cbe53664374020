import { NO_OWNER } from "../sdk/accounts.js";
import type { JsonReader } from "../sdk/json-reader.js";
import { defineTemplate } from "./index-keys.js";

/** The fields of a pending contract: a transfer, an allocation, an offer or a request to mint or burn. */
export interface Instruction {
  /** The registrar of the instruments. A request for another registrar does not find the contract. */
  readonly admin: string;
  readonly instrumentId: string;
  /** Further instruments of an allocation with several legs; absent if `instrumentId` is the only one. */
  readonly otherInstrumentIds?: readonly string[] | undefined;
  /** Undefined, or absent, if the contract names none: the instrument's configuration does then. */
  readonly operator?: string | undefined;
  /** Undefined if the contract names none, as `operator`. */
  readonly provider: string | undefined;
  /**
   * For an allocation of version 2 the party of its authorizer. Undefined for mint and burn, and for a special account,
   * which nobody holds.
   */
  readonly sender: string | undefined;
  /** Undefined for mint and burn, for a special account, and for an allocation with several receivers. */
  readonly receiver: string | undefined;
  /** The parties whose holdings are minted or burned; undefined for a transfer or an allocation. */
  readonly issuers: readonly string[] | undefined;
  /** Contract id of the holding that it locks, which is disclosed; undefined if it locks none. */
  readonly lockedHolding: string | undefined;
  /** Further holdings that it locks; absent if `lockedHolding` is the only one. */
  readonly otherLockedHoldings?: readonly string[] | undefined;
  /**
   * The ledger time, in microseconds since 1970, from which it can no longer be accepted or executed. Undefined, or absent,
   * if it has none. `offledger check` reads it.
   */
  readonly deadline?: number | undefined;
}

/** Every instrument of the instruction. */
export const instrumentsOf = ({ instrumentId, otherInstrumentIds }: Instruction): readonly string[] =>
  otherInstrumentIds === undefined ? [instrumentId] : [...new Set([instrumentId, ...otherInstrumentIds])];

/** The holdings that an instruction locks. */
export type LockedHoldings = Partial<Pick<Instruction, "lockedHolding" | "otherLockedHoldings">>;

const noIndexKeys = (): readonly string[] => [];
const adminOf = ({ admin }: Instruction): string => admin;

export const transferOffer = defineTemplate(
  "utility-registry-app-v0",
  "Utility.Registry.App.V0.Model.Transfer:TransferOffer",
  (payload): Instruction => {
    const transfer = payload.object("transfer");
    const instrument = transfer.object("instrumentId");
    return {
      admin: instrument.id("admin"),
      instrumentId: instrument.id("id"),
      operator: payload.id("operator"),
      provider: payload.id("provider"),
      sender: holderIn(transfer, "sender"),
      receiver: holderIn(transfer, "receiver"),
      issuers: undefined,
      lockedHolding: transfer.texts("inputHoldingCids")[0],
      deadline: transfer.optionalTime("executeBefore"),
    };
  },
  noIndexKeys,
  adminOf,
);

export const dvpLegAllocation = defineTemplate(
  "utility-registry-v0",
  "Utility.Registry.V0.Holding.Allocation:DvpLegAllocation",
  (payload): Instruction => {
    const allocation = payload.object("allocation");
    const leg = allocation.object("transferLeg");
    const instrument = leg.object("instrumentId");
    return {
      admin: instrument.id("admin"),
      instrumentId: instrument.id("id"),
      operator: payload.id("operator"),
      provider: payload.optionalId("provider"),
      sender: holderIn(leg, "sender"),
      receiver: holderIn(leg, "receiver"),
      issuers: undefined,
      lockedHolding: payload.id("lockedHoldingCid"),
      deadline: allocation.optionalObject("settlement")?.optionalTime("settleBefore"),
    };
  },
  noIndexKeys,
  adminOf,
);

export const mintOffer = issuance("Utility.Registry.App.V0.Model.Mint:MintOffer", "mint");
export const mintRequest = issuance("Utility.Registry.App.V0.Model.Mint:MintRequest", "mint");
export const burnOffer = issuance("Utility.Registry.App.V0.Model.Burn:BurnOffer", "burn");
export const burnRequest = issuance("Utility.Registry.App.V0.Model.Burn:BurnRequest", "burn", (payload) =>
  payload.id("lockedHoldingCid"),
);

/** The party whose credentials count for an account in the form of version 1; undefined for a special account. */
function holderIn(fields: JsonReader, name: "sender" | "receiver"): string | undefined {
  const party = fields.id(name);
  if (party !== NO_OWNER) return party;
  const provider = fields.optionalObject("meta")?.optionalObject("values")?.raw(`cip-112/${name}.provider`);
  return typeof provider === "string" && provider !== "" ? provider : undefined;
}

function issuance(
  qualifiedName: string,
  terms: "mint" | "burn",
  lockedHolding: (payload: JsonReader) => string | undefined = () => undefined,
) {
  return defineTemplate(
    "utility-registry-app-v0",
    qualifiedName,
    (payload): Instruction => {
      const fields = payload.object(terms);
      const instrument = fields.object("instrumentId");
      return {
        admin: instrument.id("admin"),
        instrumentId: instrument.id("id"),
        operator: payload.id("operator"),
        provider: payload.id("provider"),
        sender: undefined,
        receiver: undefined,
        issuers: [fields.id("holder")],
        lockedHolding: lockedHolding(payload),
        deadline: fields.optionalTime("executeBefore"),
      };
    },
    noIndexKeys,
    adminOf,
  );
}
