import type { HoldingFields } from "../../../domain/holdings.js";
import type { Template } from "../../../domain/template.js";
import { JsonReader } from "../../sdk/json-reader.js";
import { decimalField } from "../../sdk/decimal.js";
import { indexKeys } from "./index-keys.js";

/**
 * Only locked holdings are disclosed, so unlocked ones are optional: their owners matter to some requests, but there can
 * be millions. A lock never changes during the life of a holding. It has no `registrarOf`: answers of any registrar disclose the holding
 * that their instruction names.
 */
export const holding: Template<HoldingFields> = {
  packageName: "utility-registry-holding-v0",
  qualifiedName: "Utility.Registry.Holding.V0.Holding:Holding",
  parse(payload) {
    const reader = new JsonReader(payload, "");
    const fields = {
      owner: reader.id("owner"),
      operator: reader.id("operator"),
      provider: reader.id("provider"),
      registrar: reader.id("registrar"),
      instrumentId: reader.object("instrument").id("id"),
    };
    return { fields, indexKeys: [], isOptional: reader.optionalObject("lock") === undefined };
  },
  supplyContribution(payload) {
    const fields = new JsonReader(payload, "");
    const id = fields.object("instrument").id("id");
    return { sum: indexKeys.supply(fields.id("registrar"), id), amount: decimalField(fields, "amount") };
  },
};
