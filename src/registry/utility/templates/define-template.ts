import type { JsonObject } from "../../../domain/json.js";
import type { Template } from "../../../domain/template.js";
import { JsonReader } from "../../sdk/json-reader.js";

/**
 * A template whose contracts are all stored. Package and qualified names are those of the Registry Utility. Without
 * `registrarOf`, answers of every registrar may use the contracts.
 */
export function defineTemplate<F>(
  packageName: string,
  qualifiedName: string,
  parseFields: (payload: JsonReader) => F,
  indexKeysOf: (fields: F) => readonly string[] = () => [],
  registrarOf?: (fields: F) => string,
): Template<F> {
  return {
    packageName,
    qualifiedName,
    parse(payload: JsonObject) {
      const fields = parseFields(new JsonReader(payload, ""));
      return { fields, indexKeys: indexKeysOf(fields) };
    },
    ...(registrarOf !== undefined && { registrarOf }),
  };
}
