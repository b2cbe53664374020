import { notFound } from "../../errors.js";
import type { Scene } from "../../registry.js";
import { allocationFactory } from "../kinds/services.js";

/** The operator that the newest AllocationFactory names. */
export function operator({ view }: Scene): string {
  const operators = view.all(allocationFactory).map(({ facts }) => facts.operator);
  const newest = operators.find((party) => party !== undefined);
  if (newest === undefined) throw notFound("no operator is known here: no AllocationFactory is held that names one");
  return newest;
}
