import type { Contract } from "../../domain/contract.js";
import type { ChoiceCall, Registry, RequestContext } from "../sdk/registry.js";

/** What is known of a contract id. */
export interface FoundContract {
  /** Undefined if it is in the store by no template. */
  readonly contract: Contract | undefined;
  readonly isArchived: boolean;
  /** The requests about the contract. */
  readonly calls: readonly ChoiceCall[];
}

/** A contract of any template of the registry, and of any registrar. */
export function findContract(
  { templates, lookup }: Registry,
  { view }: RequestContext,
  contractId: string,
): FoundContract {
  for (const template of templates) {
    const contract = view.byId(template, contractId);
    if (contract !== undefined) return { contract, isArchived: false, calls: lookup?.choices(contract) ?? [] };
  }
  return { contract: undefined, isArchived: view.wasArchived(contractId), calls: [] };
}
