/** A ledger as a plain list of active contracts. */
import type { JsonObject, JsonValue } from "../../../src/domain/json.js";
import type { Template } from "../../fixtures/elements.js";

export interface LedgerContract {
  readonly contractId: string;
  readonly template: Template;
  readonly packageId: string;
  /** Whether it is from a package of another name, whose template only has the same qualified name. */
  readonly isLookalike: boolean;
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  readonly payload: JsonObject;
  /** Undefined while the contract is in reassignment. */
  readonly synchronizerId: string | undefined;
  readonly reassignmentCounter: number;
}

export type Ledger = readonly LedgerContract[];

/** A value in nested objects by a path such as `transfer.sender`. Undefined if it is absent or null. */
export function read(value: JsonValue | undefined, path: string): JsonValue | undefined {
  let current = value;
  for (const name of path.split(".")) current = isObject(current) ? (current[name] ?? undefined) : undefined;
  return current;
}

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
