import type { Template } from "../../../domain/template.js";
import { JsonReader } from "../../sdk/json-reader.js";
import { decimalField } from "../../sdk/decimal.js";
import { indexKeys } from "./index-keys.js";

/** Only locked holdings are disclosed, so only these are stored. A lock never changes during the life of a holding. */
export const holding: Template<null> = {
  packageName: "utility-registry-holding-v0",
  qualifiedName: "Utility.Registry.Holding.V0.Holding:Holding",
  parse(payload) {
    const isLocked = new JsonReader(payload, "").optionalObject("lock") !== undefined;
    return isLocked ? { fields: null, indexKeys: [] } : undefined;
  },
  supplyContribution(payload) {
    const fields = new JsonReader(payload, "");
    const id = fields.object("instrument").id("id");
    return { sum: indexKeys.supply(fields.id("registrar"), id), amount: decimalField(fields, "amount") };
  },
};
