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
export { argumentsReader } from "./json-reader.js";
export { JsonReader } from "./json-reader.js";
export { decimalText, parseDecimal } from "./json-reader.js";
export type * from "./registry.js";
export type * from "./lookup.js";
export type { JsonObject, JsonValue } from "../../domain/json.js";
export { parseLedgerTime } from "../../domain/ledger-time.js";
export type { HoldingFields, HoldingSource, InputHolding } from "../../domain/holdings.js";
export { indexKey, type Template, type ParsedPayload, type SupplyContribution } from "../../domain/template.js";
export { type ExtendedUtility, extendUtility } from "../utility/index.js";
export type {
  AddedDisclosure,
  AddedEntry,
  ConditionOfChange,
  OperationChange,
  UtilityExtension,
} from "../utility/contexts/contexts.js";
export type { ContextEntry, Disclosure, EntryInputs } from "../utility/context.js";
export type { ChoiceContextBuilder } from "../utility/context.js";
export type { Group } from "../utility/group.js";
export type { ContractSelector } from "../utility/selector.js";
export type { Holder } from "../utility/credentials.js";
export type { Instruction } from "../utility/instructions.js";
export { hasUnreadable, type TemplateCount, type View } from "../../store/port.js";
