import type { Warning } from "../../../sdk/registry.js";
import { indexKeys } from "../../templates/index-keys.js";
import { allocationFactory } from "../../templates/services.js";
import { attemptDirectTransfer, attemptWithFactories, factoryInputs } from "../factory-attempts.js";
import { findFactoryProblem } from "../factory-problem.js";
import { findProblems } from "../find-problems.js";
import type { LinesByOperation } from "../operation-lines.js";
import { toWarning } from "../to-warning.js";
import type { RecordingContext } from "../views.js";

/** The operations that return a factory and cannot do so for this instrument. */
export function checkFactories(
  context: RecordingContext,
  { factories: operations }: LinesByOperation,
  registrar: string,
  instrument: string,
): Warning[] {
  const { view } = context;
  const unusable = findFactoryProblem(view, registrar);
  const factories = view.byKey(allocationFactory, indexKeys.factory(registrar));
  const withFactories = attemptWithFactories(context, registrar, factories);
  const direct = attemptDirectTransfer(context, registrar, instrument);
  return [...operations.values()].flatMap((lines) => {
    const { operation } = lines;
    const isDirect = operation === "transfer-factory/direct" && direct !== undefined;
    // Without a preapproval that counts, the transfer is an offer.
    const isOffer = operation === "transfer-factory/direct" && !isDirect;
    const answering = isOffer ? (operations.get("transfer-factory/offer") ?? lines) : lines;
    if (unusable?.fails(answering.operation) === true) return [unusable.warn([operation])];
    const inputs = factoryInputs(operation, registrar, instrument);
    return (
      findProblems(answering, view, inputs, isDirect ? direct : withFactories)
        // Not every registrar burns and mints at once: its own credentials matter only if they are required.
        .filter(({ refusal }) => refusal !== undefined)
        .map((problem) => toWarning(problem, { registrar, instrument }, inputs, operation))
    );
  });
}
