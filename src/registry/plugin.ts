/**
 * Everything a registry of one's own needs, in one place: what
 * `import … from "offledger/registry"` gives. docs/your-own-registry.md shows
 * how to build with it.
 */
export { type Account, accountOf, partyOf } from "./accounts.js";
export { conflict, invalid, notFound, RegistryError, unavailable } from "./errors.js";
export { Fields } from "./fields.js";
export { decimalText, parseDecimal } from "./decimal.js";
export type * from "./registry.js";
export type * from "./history.js";
export {
  type Census,
  type JsonObject,
  type JsonValue,
  key,
  type Kind,
  micros,
  type Question,
  type Reading,
  type Share,
  type View,
} from "../store/store.js";
