import type { Template } from "../../../store/store.js";
import { JsonReader } from "../../fields.js";
import { decimalField } from "../../decimal.js";
import { indexKeys } from "./keys.js";

/** Only locked holdings are ever disclosed, and a lock never changes: the others are counted at most. */
export const holding: Template<null> = {
  packageName: "utility-registry-holding-v0",
  qualifiedName: "Utility.Registry.Holding.V0.Holding:Holding",
  parse(payload) {
    const locked = new JsonReader(payload, "").optionalObject("lock") !== undefined;
    return locked ? { fields: null, indexKeys: [] } : undefined;
  },
  supplyContribution(payload) {
    const fields = new JsonReader(payload, "");
    const id = fields.object("instrument").id("id");
    return { sum: indexKeys.supply(fields.id("registrar"), id), amount: decimalField(fields, "amount") };
  },
};
