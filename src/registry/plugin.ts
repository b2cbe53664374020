/**
 * Everything a registry of one's own needs, in one place: what
 * `import … from "offledger/registry"` gives. docs/your-own-registry.md shows
 * how to build with it.
 */
export { type Account, accountOf, partyOf } from "./accounts.js";
export { conflict, invalid, notFound, RegistryError, unavailable } from "./errors.js";
export { JsonReader } from "./fields.js";
export { decimalText, parseDecimal } from "./decimal.js";
export type * from "./registry.js";
export type * from "./history.js";
export {
  type TemplateCount,
  type JsonObject,
  type JsonValue,
  indexKey,
  type Template,
  parseLedgerTime,
  type ContractLookup,
  type ParsedPayload,
  type SupplyContribution,
  type View,
} from "../store/store.js";
