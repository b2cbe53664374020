import type { FactoryAnswer, FactoryQuery, RequestContext } from "../../sdk/registry.js";
import type { UtilityContexts } from "../contexts/contexts.js";
import { holderOf } from "../selection/requirements.js";
import { allocationArguments } from "./arguments.js";
import { answerWithFactory } from "./factory.js";
import { findFactories } from "./require.js";
import { checkSize, type SettlementLimits } from "./settlement-limits.js";

/** The factory of `AllocationFactory_Allocate`. Ignores input holdings: a client may ask before it has chosen them. */
export function allocationFactory(
  context: RequestContext,
  query: FactoryQuery,
  contexts: UtilityContexts,
  limits: SettlementLimits,
): FactoryAnswer {
  const { registrar } = query;
  const { sender, instruments, sent, sides } = allocationArguments(query);
  checkSize("allocation", { legs: sides, instruments: instruments.length }, limits);
  const factories = findFactories(context.view, registrar);
  const inputs = { instruments, sender: holderOf(sender), sent };
  const definition = contexts.factories["allocation-factory"];
  return answerWithFactory(context, { registrar, definition, factories, inputs });
}
