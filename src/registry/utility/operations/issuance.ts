import type { FactoryAnswer, IssuanceInstruction, IssuanceQuery, RequestContext } from "../../sdk/registry.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import type { ContextDefinition } from "../entries/context-definition.js";
import { answerWithFactory } from "./factory.js";
import { findFactories } from "./require.js";

/** The factory for creating an offer or a request to mint or burn. */
export function issuanceFactory(
  context: RequestContext,
  instruction: IssuanceInstruction,
  query: IssuanceQuery,
  contexts: UtilityContexts,
): FactoryAnswer {
  return answer(context, query, query.holders, contexts.factories[`${instruction}/create`]);
}

/** The factory for burning and minting at once. The registrar needs credentials too. */
export function burnMintFactory(
  context: RequestContext,
  query: IssuanceQuery,
  contexts: UtilityContexts,
): FactoryAnswer {
  return answer(context, query, [...query.holders, query.registrar], contexts.factories["burn-mint-factory"]);
}

function answer(
  context: RequestContext,
  { registrar, instrumentId }: IssuanceQuery,
  issuers: readonly string[],
  definition: ContextDefinition,
): FactoryAnswer {
  const factories = findFactories(context.view, registrar);
  const inputs = { instruments: [instrumentId], issuers: [...new Set(issuers)] };
  return answerWithFactory(context, { registrar, definition, factories, inputs });
}
