/** The contracts on which choices are exercised, and the holdings they lock. */
import type { Kind } from "../../../store/store.js";
import { Fields } from "../../fields.js";
import { kind } from "./kind.js";

/** A contract on which a choice is exercised, and whose instrument has an admin. */
export interface Instruction {
  /** The registrar of the instrument. */
  readonly admin: string;
  readonly instrumentId: string;
  /** Undefined where the contract names none: then the instrument's configuration does. */
  readonly provider: string | undefined;
  /** The party that holds and gives away: the sender of a transfer, the holder of a burn. */
  readonly sender: string;
  /** The party that gets; undefined for a burn. */
  readonly receiver: string | undefined;
  /** Undefined where nothing is locked. */
  readonly lockedHolding: string | undefined;
}

export const transferOffer = kind(
  "utility-registry-app-v0",
  "Utility.Registry.App.V0.Model.Transfer:TransferOffer",
  (payload): Instruction => {
    const transfer = payload.object("transfer");
    return {
      ...instrument(transfer),
      provider: payload.id("provider"),
      sender: transfer.id("sender"),
      receiver: transfer.id("receiver"),
      lockedHolding: transfer.texts("inputHoldingCids")[0],
    };
  },
);

export const dvpLegAllocation = kind(
  "utility-registry-v0",
  "Utility.Registry.V0.Holding.Allocation:DvpLegAllocation",
  (payload): Instruction => {
    const leg = payload.object("allocation").object("transferLeg");
    return {
      ...instrument(leg),
      provider: payload.optionalId("provider"),
      sender: leg.id("sender"),
      receiver: leg.id("receiver"),
      lockedHolding: payload.id("lockedHoldingCid"),
    };
  },
);

export const burnRequest = kind(
  "utility-registry-app-v0",
  "Utility.Registry.App.V0.Model.Burn:BurnRequest",
  (payload): Instruction => ({ ...burn(payload), lockedHolding: payload.id("lockedHoldingCid") }),
);

export const burnOffer = kind(
  "utility-registry-app-v0",
  "Utility.Registry.App.V0.Model.Burn:BurnOffer",
  (payload): Instruction => ({ ...burn(payload), lockedHolding: undefined }),
);

/** Only locked holdings are ever disclosed, and a lock never changes: the others are not kept. */
export const holding: Kind<null> = {
  packageName: "utility-registry-holding-v0",
  entity: "Utility.Registry.Holding.V0.Holding:Holding",
  read(payload) {
    const locked = new Fields(payload, "").optionalObject("lock") !== undefined;
    return locked ? { facts: null, keys: [] } : undefined;
  },
};

function instrument(fields: Fields): Pick<Instruction, "admin" | "instrumentId"> {
  const id = fields.object("instrumentId");
  return { admin: id.id("admin"), instrumentId: id.id("id") };
}

function burn(payload: Fields): Omit<Instruction, "lockedHolding"> {
  const terms = payload.object("burn");
  return {
    ...instrument(terms),
    provider: payload.id("provider"),
    sender: terms.id("holder"),
    receiver: undefined,
  };
}
