import type { FactoryAnswer, IssuanceQuery, RequestContext } from "../../sdk/registry.js";
import { factoryContexts } from "../choice-contexts.js";
import type { ContextDefinition } from "../entries/context-definition.js";
import { allocationFactoryName, answerWithFactory } from "./factory.js";
import { requireFactories } from "./require.js";

/** The factory for creating an offer or a request to mint or burn. */
export function issuanceFactory(context: RequestContext, query: IssuanceQuery): FactoryAnswer {
  return answer(context, query, factoryContexts["issuance-factory"]);
}

/** The factory for burning and minting at once. */
export function burnMintFactory(context: RequestContext, query: IssuanceQuery): FactoryAnswer {
  return answer(context, query, factoryContexts["burn-mint-factory"]);
}

function answer(
  context: RequestContext,
  { registrar, instrumentId, holders }: IssuanceQuery,
  definition: ContextDefinition,
): FactoryAnswer {
  const factories = requireFactories(context.view, registrar);
  const inputs = { instruments: [instrumentId], issuers: [...new Set(holders)] };
  return answerWithFactory(context, { registrar, definition, factories, inputs }, () =>
    allocationFactoryName(registrar),
  );
}
