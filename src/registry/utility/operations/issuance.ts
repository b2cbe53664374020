import type { FactoryAnswer, IssuanceQuery, RequestContext } from "../../sdk/registry.js";
import type { Entry } from "../entries/entries.js";
import { factoryWith } from "./factory.js";

const create: readonly Entry[] = ["instrument-configuration", "issuer-credentials"];
const burnMint: readonly Entry[] = [...create, "app-reward-configuration", "featured-app-right"];

/** The factory for making an offer or a request to mint or burn: all four need the same. */
export function issuanceFactory(context: RequestContext, query: IssuanceQuery): FactoryAnswer {
  return answer(context, query, create);
}

/** The factory for burning and minting at once. */
export function burnMintFactory(context: RequestContext, query: IssuanceQuery): FactoryAnswer {
  return answer(context, query, burnMint);
}

function answer(
  context: RequestContext,
  { registrar, instrumentId, holders }: IssuanceQuery,
  entries: readonly Entry[],
): FactoryAnswer {
  return factoryWith(context, registrar, entries, { instruments: [instrumentId], issuers: [...new Set(holders)] });
}
