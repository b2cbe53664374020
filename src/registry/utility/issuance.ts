import { refuse } from "../../domain/errors.js";
import type { FactoryResult, IssuanceInstruction, IssuanceQuery, RequestContext } from "../sdk/registry.js";
import type { ContextDefinition } from "../engine/choice-context.js";
import type { UtilityContexts } from "./contexts.js";
import { answerInGroup, inputHoldings } from "./factory.js";

/** The factory for creating an offer or a request to mint or burn. The holder's credentials count, also if the registrar offers. */
export function issuanceFactory(
  context: RequestContext,
  instruction: IssuanceInstruction,
  query: IssuanceQuery,
  contexts: UtilityContexts,
): FactoryResult {
  return answer(context, query, query.holders, contexts.factories[`${instruction}/create`]);
}

/**
 * The factory for burning and minting at once. The ledger reads the credentials of the owners of all inputs and outputs,
 * from one list. The registrar's play no part unless it owns one. Holdings that are not known are left out.
 */
export function burnMintFactory(
  context: RequestContext,
  query: IssuanceQuery,
  contexts: UtilityContexts,
): FactoryResult {
  const { inputHoldings: ids } = query;
  const burned = Array.from(inputHoldings(context, ids), ([contractId, holding]) => {
    if (holding !== "archived") return holding.owner;
    throw refuse("holding-archived", `input holding ${contractId} has been archived`, {
      contractId,
      registrar: query.registrar,
    });
  });
  const unknown = new Set(ids).size - burned.length;
  if (unknown > 0)
    context.recorder?.remark(
      `${unknown} of the input holdings are not known here: the credentials of their owners are not in the context.`,
    );
  return answer(context, query, [...burned, ...query.holders], contexts.factories["burn-mint-factory"]);
}

function answer(
  context: RequestContext,
  query: IssuanceQuery,
  issuers: readonly string[],
  definition: ContextDefinition,
): FactoryResult {
  const roles = { holder: [...new Set(issuers)] };
  return answerInGroup(context, { ...query, instruments: [query.instrumentId] }, definition, { roles });
}
