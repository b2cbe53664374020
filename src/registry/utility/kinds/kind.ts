import type { JsonObject, Kind } from "../../../store/store.js";
import { Fields } from "../../fields.js";

/**
 * A kind that keeps every contract of it. Package name and entity are those of
 * the page "How a choice context is built".
 */
export function kind<F>(
  packageName: string,
  entity: string,
  read: (payload: Fields) => F,
  keysOf: (facts: F) => readonly string[] = () => [],
): Kind<F> {
  return {
    packageName,
    entity,
    read(payload: JsonObject) {
      const facts = read(new Fields(payload, ""));
      return { facts, keys: keysOf(facts) };
    },
  };
}
