/** What a read asks the database for, and what it gets. */
import type { StoredContract } from "../../domain/contract.js";
import type { Template } from "../../domain/template.js";
import { idHash, indexKeyHash, type LookupHash, sumHash, templateCountsHash, templateHash } from "../lookup-hash.js";
import type { TemplateCount } from "../port.js";
import type { Heartbeat } from "../log.js";

/** One thing that a read asks the database for. */
export type Lookup =
  | { readonly by: "id"; readonly contractId: string }
  | { readonly by: "indexKey"; readonly indexKey: string }
  | { readonly by: "template"; readonly template: Template }
  | { readonly by: "sum"; readonly sum: string }
  | { readonly by: "templateCounts" };

/** The result of a lookup. Members that the lookup does not ask for have their empty value. */
export interface LookupResult {
  /** In the order of a view. */
  readonly contracts: readonly StoredContract[];
  /** For a lookup by id that finds nothing: whether the contract is known to be archived. */
  readonly wasArchived: boolean;
  /** The hash of the registrar of the archived contract; undefined if it is not known. */
  readonly archivedRegistrar: LookupHash | undefined;
  readonly amount: bigint;
  readonly templateCounts: readonly TemplateCount[];
}

export const EMPTY_RESULT: LookupResult = {
  contracts: [],
  wasArchived: false,
  archivedRegistrar: undefined,
  amount: 0n,
  templateCounts: [],
};

export function hashOf(lookup: Lookup): LookupHash {
  switch (lookup.by) {
    case "id":
      return idHash(lookup.contractId);
    case "indexKey":
      return indexKeyHash(lookup.indexKey);
    case "template":
      return templateHash(lookup.template);
    case "sum":
      return sumHash(lookup.sum);
    case "templateCounts":
      return templateCountsHash;
  }
}

/** The same for equal lookups, and cheaper than their hash. */
export function keyOf(lookup: Lookup): string {
  switch (lookup.by) {
    case "id":
      return `id ${lookup.contractId}`;
    case "indexKey":
      return `index key ${lookup.indexKey}`;
    case "template":
      return `template ${lookup.template.packageName} ${lookup.template.qualifiedName}`;
    case "sum":
      return `sum ${lookup.sum}`;
    case "templateCounts":
      return lookup.by;
  }
}

/** Identifies a state of the store. */
export interface Version {
  /** The snapshot that the state comes from; 0 if there is none yet. */
  readonly generation: number;
  readonly offset: number;
  readonly asOf: number | undefined;
}

export interface Fetched {
  readonly version: Version;
  /** Whether a process with the content id of this one has ever had the lease; see content-id.ts. */
  readonly hasState: boolean;
  /** Undefined if no process with our content id has ever had the lease. */
  readonly heartbeat: Heartbeat | undefined;
  /** Why the ledger is not the one that the store comes from; undefined if it is not known. */
  readonly otherHistory: string | undefined;
  /** Whether `invalidated` is everything that has changed since the given version. If false, anything may have. */
  readonly isContiguous: boolean;
  readonly invalidated: ReadonlySet<LookupHash>;
  /** Results of the missing lookups, and of the known lookups that have changed. */
  readonly results: ReadonlyMap<Lookup, LookupResult>;
  /** Whether results are left out because they have too many contracts. */
  readonly isTruncated: boolean;
}

/** Older than every state. */
export const NO_VERSION: Version = { generation: 0, offset: 0, asOf: undefined };
