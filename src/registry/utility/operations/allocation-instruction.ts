import { invalid } from "../../../domain/errors.js";
import type { ChoiceQuery, RequestContext } from "../../sdk/registry.js";
import { requireFactories } from "./require.js";

/** Always throws: an allocation is made at once, so no instruction to make one is ever pending. */
export function allocationInstruction({ view }: RequestContext, { registrar = "", contractId }: ChoiceQuery): never {
  requireFactories(view, registrar);
  throw invalid(
    `${contractId} cannot be an allocation instruction: this registry has none that are pending, ` +
      "since the allocation factory makes an allocation at once",
  );
}
