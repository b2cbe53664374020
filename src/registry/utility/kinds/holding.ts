import type { Kind } from "../../../store/store.js";
import { Fields } from "../../fields.js";
import { units } from "../../decimal.js";
import { keys } from "./keys.js";

/** Only locked holdings are ever disclosed, and a lock never changes: the others are counted at most. */
export const holding: Kind<null> = {
  packageName: "utility-registry-holding-v0",
  entity: "Utility.Registry.Holding.V0.Holding:Holding",
  read(payload) {
    const locked = new Fields(payload, "").optionalObject("lock") !== undefined;
    return locked ? { facts: null, keys: [] } : undefined;
  },
  share(payload) {
    const fields = new Fields(payload, "");
    const id = fields.object("instrument").id("id");
    return { sum: keys.supply(fields.id("registrar"), id), amount: units(fields, "amount") };
  },
};
