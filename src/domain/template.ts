import type { JsonObject } from "./json.js";

/** A template that a registry reads. Package ids change with every upgrade, so names identify it. */
export interface Template<F = unknown> {
  /** `Module:Entity`, for example `Utility.Registry.V0.Rule.Transfer:TransferRule`. */
  readonly qualifiedName: string;
  /** Name of the package, for example `utility-registry-v0`. */
  readonly packageName: string;
  /**
   * Reads what the rules need from the create arguments. Returns undefined if no rule will ever ask for the contract,
   * which is then not stored. Throws an Error that names the field if the arguments do not match the template.
   */
  parse(payload: JsonObject): ParsedPayload<F> | undefined;
  /**
   * The registrar of a contract, whose answers alone may use it. Undefined, or absent, if answers of every registrar may.
   * Clients that follow the changes of one registrar learn nothing of the contracts of others.
   */
  registrarOf?(fields: F): string | undefined;
  /**
   * Changes whenever `parse` returns other fields or index keys for the same arguments: a database is then filled again.
   * Absent for a template whose parsing is part of this program.
   */
  readonly revision?: string;
  /**
   * What a contract adds to a sum over all contracts of the template, stored or not. Absent if nothing is summed.
   * Called only if the service keeps total supply. Throws as `parse` does.
   */
  supplyContribution?(payload: JsonObject): SupplyContribution;
}

/** What one contract adds to a sum. */
export interface SupplyContribution {
  /** Made by `indexKey`. */
  readonly sum: string;
  /** In the smallest unit of the sum. */
  readonly amount: bigint;
}

export interface ParsedPayload<F> {
  /**
   * The fields that the rules use. They must not be changed. A database stores them as JSON, and refuses others than plain
   * objects, lists, texts, finite numbers, booleans and null. A member that is undefined reads as one that is absent.
   */
  readonly fields: F;
  /** Every key that finds the contract; see `indexKey`. */
  readonly indexKeys: readonly string[];
  /** Whether the contract is stored only if the service keeps optional contracts, which OFFLEDGER_KEEP_HOLDINGS says. */
  readonly isOptional?: boolean;
}

/** A template of contracts that could not be parsed, which are stored without content. */
interface UnreadableTemplate extends Template<null> {
  /** The index key of all of them. */
  readonly indexKey: string;
}

/** A store tells templates apart by their objects. */
const unreadableTemplates = new WeakMap<Template, UnreadableTemplate>();

export function unreadableTemplate(template: Template): UnreadableTemplate {
  const known = unreadableTemplates.get(template);
  if (known !== undefined) return known;
  const { packageName, qualifiedName } = template;
  const key = indexKey("unreadable", packageName, qualifiedName);
  const made: UnreadableTemplate = {
    packageName,
    qualifiedName: `${qualifiedName} (unreadable)`,
    indexKey: key,
    parse: () => ({ fields: null, indexKeys: [key] }),
  };
  unreadableTemplates.set(template, made);
  return made;
}

/** Makes an index key. The length before each value keeps different lists of values from giving the same key. */
export function indexKey(index: string, ...values: readonly string[]): string {
  return values.reduce((key, value) => `${key}/${value.length}:${value}`, index);
}
