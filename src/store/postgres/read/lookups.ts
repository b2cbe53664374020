import type { Contract } from "../../../domain/contract.js";
import type { Template } from "../../../domain/template.js";
import type { TemplateCount } from "../../port.js";
import { idHash, indexKeyHash, type LookupHash, sumHash, templateCountsHash, templateHash } from "../../lookup-hash.js";

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
  readonly contracts: readonly Contract[];
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
