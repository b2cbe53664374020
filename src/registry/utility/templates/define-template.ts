import type { JsonObject } from "../../../domain/json.js";
import type { Template } from "../../../domain/template.js";
import { JsonReader } from "../../sdk/json-reader.js";

/** A template whose contracts are all stored. Package and qualified names are those of the Registry Utility. */
export function defineTemplate<F>(
  packageName: string,
  qualifiedName: string,
  parseFields: (payload: JsonReader) => F,
  indexKeysOf: (fields: F) => readonly string[] = () => [],
): Template<F> {
  return {
    packageName,
    qualifiedName,
    parse(payload: JsonObject) {
      const fields = parseFields(new JsonReader(payload, ""));
      return { fields, indexKeys: indexKeysOf(fields) };
    },
  };
}
