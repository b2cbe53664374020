import type { JsonObject } from "./json.js";

/**
 * A kind of contract that a registry knows. Package ids change with every
 * upgrade, so a kind is known by its package name and entity alone.
 */
export interface Template<F = unknown> {
  /** `Module:Entity`, for example `Utility.Registry.V0.Rule.Transfer:TransferRule`. */
  readonly qualifiedName: string;
  /** Name of the package, for example `utility-registry-v0`. */
  readonly packageName: string;
  /**
   * Reads what the rules need from the arguments that created a contract.
   * Returns undefined where no rule will ever ask for it: such a contract is
   * not kept. Throws an Error that names the field where the arguments are not
   * of this kind.
   */
  parse(payload: JsonObject): ParsedPayload<F> | undefined;
  /**
   * What a contract adds to a sum over all of them, also over those that are not
   * kept. Undefined for a kind that nothing is summed of. Called only where sums
   * are asked for; throws as `read` does.
   */
  supplyContribution?(payload: JsonObject): SupplyContribution;
}

/** What one contract adds to a sum. */
export interface SupplyContribution {
  /** Names the sum; made by `key`. */
  readonly sum: string;
  /** In the smallest unit, whichever that is for the sum. */
  readonly amount: bigint;
}

/** What a kind reads from the payload of a contract. */
export interface ParsedPayload<F> {
  /** The fields that the rules use. Data that nobody changes: where they are a plain object, a store may give a copy. */
  readonly fields: F;
  /** Every key under which the contract can be found; see `key`. */
  readonly indexKeys: readonly string[];
}

/**
 * Makes a key from the name of an index and the values looked for. Each value
 * stands behind its length, so that no two lists of values give the same key
 * whatever characters they hold.
 */
export function indexKey(index: string, ...values: readonly string[]): string {
  return values.reduce((made, value) => `${made}/${value.length}:${value}`, index);
}
