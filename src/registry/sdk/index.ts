/** The public package `offledger/registry`. docs/your-own-registry.md shows how to write a registry with it. */
export { type Account, accountIn, accountOf, partyOf } from "./accounts.js";
export {
  conflict,
  invalid,
  invalidField,
  notFound,
  RegistryError,
  type RegistryErrorDetails,
  unavailable,
} from "../../domain/errors.js";
export { argumentsReader } from "./choice-arguments.js";
export { JsonReader } from "./json-reader.js";
export { decimalText, parseDecimal } from "./decimal.js";
export type * from "./registry.js";
export type * from "./history.js";
export type { JsonObject, JsonValue } from "../../domain/json.js";
export { parseLedgerTime } from "../../domain/ledger-time.js";
export type { HoldingFields, HoldingSource, InputHolding } from "../../domain/holdings.js";
export { indexKey, type Template, type ParsedPayload, type SupplyContribution } from "../../domain/template.js";
export { type ExtendedUtility, extendUtility } from "../utility/extend-utility.js";
export type * from "../utility/contexts/extension.js";
export type { ContextEntry, Disclosure, EntryInputs } from "../utility/entries/context-entry.js";
export type { ChoiceContextBuilder } from "../utility/entries/choice-context-builder.js";
export type { Group } from "../utility/selection/group.js";
export type { ContractSelector } from "../utility/selection/contract-selector.js";
export type { Holder } from "../utility/selection/credentials.js";
export type { Instruction } from "../utility/templates/instructions.js";
export type { TemplateCount, View } from "../../store/port.js";
