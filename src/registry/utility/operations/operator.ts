import { notFound } from "../../../domain/errors.js";
import type { RequestContext } from "../../sdk/registry.js";
import { allocationFactory } from "../templates/services.js";

/** The operator that the newest AllocationFactory names. */
export function operator({ view }: RequestContext): string {
  const operators = view.all(allocationFactory).map(({ fields }) => fields.operator);
  const newest = operators.find((party) => party !== undefined);
  if (newest === undefined)
    throw notFound("the operator is not known: no AllocationFactory names one", { code: "operator-unknown" });
  return newest;
}
