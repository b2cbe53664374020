import type { FactoryAnswer, FactoryQuery, RequestContext } from "../../sdk/registry.js";
import type { Entry } from "../entries/entries.js";
import { allocationArguments } from "./arguments.js";
import { factoryWith } from "./factory.js";
import { checkSize, type SettlementLimits } from "./settlement-limits.js";

const entries: readonly Entry[] = ["instrument-configuration", "sender-credentials"];

/** The factory of an allocation (`AllocationFactory_Allocate`). The holdings that the arguments name are not looked at. */
export function allocationFactory(
  context: RequestContext,
  query: FactoryQuery,
  limits: SettlementLimits,
): FactoryAnswer {
  const { sender, instruments, sent, sides } = allocationArguments(query);
  checkSize("allocation", { legs: sides, instruments: instruments.length }, limits);
  return factoryWith(context, query.registrar, entries, { instruments, sender, sent });
}
