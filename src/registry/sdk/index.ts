/** The public package `offledger/registry`. docs/your-own-registry.md shows how to write a registry with it. */
export { type Account, accountIn, accountOf, partyOf } from "./json-reader.js";
export {
  conflict,
  invalid,
  invalidField,
  notFound,
  RegistryError,
  type RegistryErrorDetails,
  unavailable,
} from "../../domain/errors.js";
export { argumentsReader } from "./json-reader.js";
export { JsonReader } from "./json-reader.js";
export { decimalText, parseDecimal } from "./json-reader.js";
export { tokenStandardApis } from "./apis.js";
export type * from "./registry.js";
export type * from "./lookup.js";
export type { JsonObject, JsonValue } from "../../domain/json.js";
export { parseLedgerTime } from "../../domain/ledger-time.js";
export type { HoldingFields, HoldingSource, InputHolding } from "../../domain/ledger.js";
export { indexKey, type Template, type ParsedPayload, type SupplyContribution } from "../../domain/template.js";
export { type ExtendedUtility, extendUtility } from "../utility/index.js";
export type { UtilityExtension } from "../utility/contexts.js";
export type { OperationChange } from "../engine/grammar.js";
export type { ChoiceContextBuilder, EntryInputs, Holder } from "../engine/answer.js";
export type { UtilityDisclosure as Disclosure, UtilityEntry as ContextEntry } from "../utility/entries.js";
export type { Group } from "../engine/selector.js";
export type { UtilitySelector as ContractSelector } from "../utility/entries.js";
export type { TableFields as Instruction } from "../engine/templates.js";
export { hasUnreadable, type TemplateCount, type View } from "../../state/port.js";
