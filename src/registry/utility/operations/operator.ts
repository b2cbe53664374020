import { notFound } from "../../../domain/errors.js";
import type { RequestContext } from "../../sdk/registry.js";
import { allocationFactory } from "../templates/services.js";

/** The operator that the newest AllocationFactory names. */
export function operator({ view }: RequestContext): string {
  const [newest] = view.all(allocationFactory);
  if (newest === undefined)
    throw notFound("the operator is not known: there is no AllocationFactory", { code: "operator-unknown" });
  return newest.fields.operator;
}
