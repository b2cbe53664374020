import { invalid } from "../../../domain/errors.js";
import type { ChoiceQuery, RequestContext } from "../../sdk/registry.js";
import { requireFactories } from "./require.js";

/** Always throws: the factory makes an allocation at once, so an allocation instruction is never pending. */
export function allocationInstruction({ view }: RequestContext, { registrar = "", contractId }: ChoiceQuery): never {
  requireFactories(view, registrar);
  throw invalid(
    `${contractId} is not an allocation instruction: this registry has no pending ones, ` +
      "because its factory makes an allocation at once",
    { code: "operation-not-supported", about: { registrar, contractId } },
  );
}
