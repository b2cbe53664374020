/** The table of operations as data: what contexts.yaml and the operator's changes say. */
import type { Operation } from "./operations.js";

/** The prefix of every key of the Registry Utility. */
export const KEY_PREFIX = "utility.digitalasset.com/";

export type ContextTable = Readonly<Record<Operation, OperationRow>>;

/** What the context of one operation has. */
export interface OperationRow {
  readonly entries: readonly EntryLine[];
  readonly disclosures: readonly DisclosureLine[];
  /** Whether the choice fails for an instrument with `checkBlocklist`, unless a line has that condition. */
  readonly needsBlocklist: boolean;
  /** Whether the reward entries exist for the operation. They are off. */
  readonly hasRewards: boolean;
  /** Whether what is not required is left out also where it is elsewhere or in reassignment. */
  readonly allowsMissing: boolean;
}

export interface EntryLine extends LineOptions {
  /** The name of an entry: a built-in one, or one of the operator's. */
  readonly entry: string;
  /** Every key under which the value stands, in full. */
  readonly keys: readonly string[];
}

export interface DisclosureLine extends LineOptions {
  /** The name of a disclosure, or of one of the operator's entries. */
  readonly disclosure: string;
}

export interface LineOptions {
  readonly required: boolean;
  /** Restricts `required`; undefined if it always applies. */
  readonly requiredWhen: Condition | undefined;
  /** Restricts the line; undefined if it always applies. */
  readonly when: Condition | undefined;
}

/** `prefixed`: under KEY_PREFIX. `both`: also under the bare name, which packages before Registry App 0.12 read. */
export type KeyForm = "prefixed" | "both";

export const keysOf = (entry: string, form: KeyForm): readonly string[] =>
  form === "both" ? [`${KEY_PREFIX}${entry}`, entry] : [`${KEY_PREFIX}${entry}`];

export type Condition =
  /** An instrument of the request has `checkBlocklist`. */
  | "checkBlocklist"
  /** The request is about more than one instrument. */
  | "severalInstruments"
  /** An instrument of the request has a configuration on the synchronizer of the answer. */
  | "configured"
  | PackageCondition;

/**
 * The contract on which the choice is exercised (the factory, or the instruction) was created by this package, in this
 * range of versions. A package id whose version is not known counts as the current version.
 */
export interface PackageCondition {
  readonly package: string;
  /** Inclusive; undefined if there is no lower bound. */
  readonly from: string | undefined;
  /** Exclusive; undefined if there is no upper bound. */
  readonly before: string | undefined;
}

/** One change of the table by the operator or a module. */
export interface ContextChange {
  /** The operations that it changes. */
  readonly operations: readonly Operation[];
  readonly add: readonly (EntryLine | DisclosureLine)[];
  /** Names of entries and disclosures to remove. */
  readonly remove: readonly string[];
  /** Whether a party without the required credentials is answered 404; undefined if that does not change. */
  readonly credentialsRequired: boolean | undefined;
  /** Whether the reward entries are written; undefined if that does not change. */
  readonly rewards: boolean | undefined;
  /** The form of the keys of all entries whose keys have one; undefined if that does not change. */
  readonly keys: KeyForm | undefined;
  /** Restricts rewards and credentials; undefined if they always apply. The lines of `add` have it already. */
  readonly when: Condition | undefined;
}
