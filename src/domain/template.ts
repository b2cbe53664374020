import type { JsonObject } from "../util/json.js";
import type { ShownContract, TokenInterface } from "./token-interfaces.js";

/**
 * A template that a registry reads. Package ids change with every upgrade, so names identify it, or the interfaces that its
 * contracts implement: then any package may have it, and one contract may be of several.
 */
export interface Template<F = unknown> {
  /** `Module:Entity`, for example `Utility.Registry.V0.Rule.Transfer:TransferRule`. */
  readonly qualifiedName: string;
  /** Name of the package, for example `utility-registry-v0`; empty for one that interfaces identify. */
  readonly packageName: string;
  /** The interfaces whose views `parse` reads; without a package each contract that implements one of them is of it. */
  readonly interfaces?: readonly TokenInterface[];
  /**
   * The registrar, without whose signature a contract counts for nothing: it must be one that we read as, or that is
   * configured. Absent where the code of the package is trusted. Throws as `parse` does.
   */
  signerOf?(payload: JsonObject, shown?: ShownContract): string | undefined;
  /** The templates that this one combines, for a contract of several. */
  readonly parts?: readonly Template[];
  /**
   * Reads what the rules need from the create arguments. Returns undefined if no rule will ever ask for the contract,
   * which is then not stored. Throws an Error that names the field if the arguments do not match the template. `shown` is
   * undefined where the source gives arguments alone.
   */
  parse(payload: JsonObject, shown?: ShownContract): ParsedPayload<F> | undefined;
  /**
   * The registrar of a contract, whose answers alone may use it. Undefined, or absent, if answers of every registrar may.
   * Clients that follow the changes of one registrar learn nothing of the contracts of others.
   */
  registrarOf?(fields: F): string | undefined;
  /** Names that the state counts by group, such as the instruments that contracts of a registrar name. */
  tally?(fields: F): readonly Tally[];
  /**
   * Whether contracts are read from the ledger by their ids where an answer names them. They are mirrored only to be counted,
   * or if the service keeps optional contracts, as all of them are.
   */
  readonly isReadById?: boolean;
  /** Whether contracts that are not stored add to their sums although the service keeps no total supply. */
  readonly isCounted?: boolean;
  /**
   * Changes whenever `parse` returns other fields or index keys for the same arguments: a database is then filled again.
   * Absent for a template whose parsing is part of this program.
   */
  readonly revision?: string;
  /**
   * What a contract adds to a sum over all contracts of the template, stored or not. Absent if nothing is summed.
   * Called only if the service keeps total supply, or `isCounted`. Throws as `parse` does.
   */
  supplyContribution?(payload: JsonObject, shown?: ShownContract): SupplyContribution;
}

/** A name that a contract has, see `Template.tally`. */
export interface Tally {
  readonly group: string;
  readonly name: string;
}

/** What one contract adds to a sum. */
export interface SupplyContribution {
  /** Made by `indexKey`. */
  readonly sum: string;
  /** In the smallest unit of the sum. */
  readonly amount: bigint;
  /** The name that contracts have which are only counted: a group has it while the sum is not 0. */
  readonly tally?: Tally | undefined;
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

/** Whether a contract of a template is also one of `other`. */
export const isOf = (template: Template, other: Template): boolean =>
  template === other || template.parts?.includes(other) === true;

/** The templates of a contract. */
export const partsOf = (template: Template): readonly Template[] => template.parts ?? [template];

const combinations = new WeakMap<Template, WeakMap<Template, Template>>();

/** The template of a contract of several: each parses it, and their fields, objects, are joined. Undefined for none. */
export const combined = ([first, ...others]: readonly Template[]): Template | undefined =>
  first && others.reduce(pair, first);

function pair(a: Template, b: Template): Template {
  const known = combinations.get(a)?.get(b);
  if (known !== undefined) return known;
  // A contract is counted once.
  const counted = a.supplyContribution === undefined ? b : a;
  const made: Template = {
    packageName: a.packageName,
    qualifiedName: `${a.qualifiedName}, ${b.qualifiedName}`,
    parts: [...partsOf(a), b],
    signerOf(payload, shown) {
      const signer = a.signerOf?.(payload, shown);
      return signer === b.signerOf?.(payload, shown) ? signer : undefined;
    },
    registrarOf: (fields) => a.registrarOf?.(fields),
    isReadById: a.isReadById === true && b.isReadById === true,
    isCounted: a.isCounted === true || b.isCounted === true,
    // Both read the joined fields.
    tally: (fields) => a.tally?.(fields) ?? b.tally?.(fields) ?? [],
    parse(payload, shown) {
      const [first, second] = [a.parse(payload, shown), b.parse(payload, shown)];
      if (first === undefined || second === undefined) return first ?? second;
      return {
        fields: joined(first.fields, second.fields),
        indexKeys: [...new Set([...first.indexKeys, ...second.indexKeys])],
        isOptional: first.isOptional === true && second.isOptional === true,
      };
    },
    ...(counted.supplyContribution !== undefined && {
      supplyContribution: counted.supplyContribution.bind(counted),
    }),
  };
  if (!combinations.has(a)) combinations.set(a, new WeakMap());
  combinations.get(a)?.set(b, made);
  return made;
}

/** Objects by their fields, lists with each element once; of others the first that is there. */
function joined(a: unknown, b: unknown): unknown {
  if (Array.isArray(a) && Array.isArray(b)) return [...new Set<unknown>([...a, ...b])];
  if (!isFields(a) || !isFields(b)) return a ?? b;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, joined(a[name], b[name])]));
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

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
