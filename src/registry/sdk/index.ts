/** The public package `offledger/registry`. docs/your-own-registry.md shows how to write a registry with it. */
export { z } from "zod";
export {
  conflict,
  invalid,
  invalidField,
  notFound,
  RegistryError,
  type RegistryErrorDetails,
  unavailable,
} from "../../domain/errors.js";
export { decimalText, parseDecimal } from "../../domain/decimal.js";
export type { JsonObject, JsonValue } from "../../util/json.js";
export { type HoldingFields, MAX_READ_BY_ID, type OnLedger } from "../../domain/ledger.js";
export { parseLedgerTime } from "../../util/json.js";
export { indexKey, type ParsedPayload, type SupplyContribution, type Template } from "../../domain/template.js";
export { hasUnreadable, type TemplateCount, type View } from "../../state/port.js";
export type { Account } from "../account.js";
export type { UtilityExtension } from "../utility/contexts.js";
export type { OperationChange } from "../engine/grammar.js";
export { type ExtendedUtility, extendUtility } from "../utility/index.js";
export { tokenStandardApis } from "./apis.js";
export {
  defineRegistry,
  type Factories,
  type ListedInstrument,
  type Operation,
  type RegistryDefinition,
} from "./define.js";
export type * from "./lookup.js";
export type * from "./registry.js";
export type { ContextFunction, ContextRequest, FindOptions } from "./request.js";
export { type ContractFields, defineTemplate, type ModuleTemplate, type ModuleTemplateDefinition } from "./template.js";
