import type { Template } from "../../../domain/template.js";
import { JsonReader } from "../../sdk/json-reader.js";
import { decimalField } from "../../sdk/decimal.js";
import { indexKeys } from "./index-keys.js";

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
