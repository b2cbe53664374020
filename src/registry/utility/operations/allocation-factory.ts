import type { FactoryAnswer, FactoryQuery, RequestContext } from "../../sdk/registry.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import { holderOf } from "../selection/credentials.js";
import { allocationArguments } from "./arguments.js";
import { answerWithFactory, findGroupFactories, version2Of } from "./factory.js";
import { checkSize, type SettlementLimits } from "./settlement-limits.js";

/** The factory of `AllocationFactory_Allocate`. The input holdings matter only if several providers have the instruments. */
export function allocationFactory(
  context: RequestContext,
  query: FactoryQuery,
  contexts: UtilityContexts,
  limits: SettlementLimits,
): FactoryAnswer {
  const { registrar } = query;
  const { sender, instruments, sent, sides, inputHoldings, targetSynchronizer } = allocationArguments(query);
  checkSize("allocation", { legs: sides, instruments: instruments.length }, limits);
  const version2 = version2Of(query, contexts.packageVersions);
  return answerWithFactory(context, {
    ...findGroupFactories(context, {
      registrar,
      instruments,
      inputHoldings,
      needsNoConfiguration: instruments.length === 0,
      targetSynchronizer,
      version2,
    }),
    definition: contexts.factories["allocation-factory"],
    inputs: { instruments, sender: holderOf(sender), sent },
  });
}
