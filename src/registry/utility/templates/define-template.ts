import type { JsonObject } from "../../../domain/json.js";
import type { Template } from "../../../domain/template.js";
import { JsonReader } from "../../sdk/json-reader.js";

/**
 * A kind that keeps every contract of it. Package name and entity are those of
 * the page "How a choice context is built".
 */
export function defineTemplate<F>(
  packageName: string,
  qualifiedName: string,
  read: (payload: JsonReader) => F,
  keysOf: (facts: F) => readonly string[] = () => [],
): Template<F> {
  return {
    packageName,
    qualifiedName,
    parse(payload: JsonObject) {
      const fields = read(new JsonReader(payload, ""));
      return { fields, indexKeys: keysOf(fields) };
    },
  };
}
