import type { Warning } from "../../sdk/registry.js";
import { indexKeys } from "../templates/index-keys.js";
import { allocationFactory } from "../templates/services.js";
import { attemptDirectTransfer, attemptWithFactories, factoryInputs } from "./factory-attempts.js";
import { findFactoryProblem } from "./factory-problem.js";
import { findProblems } from "./find-problems.js";
import type { LinesByOperation } from "./operation-lines.js";
import { toWarning } from "./to-warning.js";
import type { RecordingContext } from "./views.js";

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
  const warnings = [...operations.values()].flatMap((lines) => {
    const { operation } = lines;
    if (unusable?.operations.includes(operation) === true) return [];
    const inputs = factoryInputs(operation, registrar, instrument);
    return (
      findProblems(lines, view, inputs, operation === "transfer-factory/direct" ? direct : withFactories)
        // Not every registrar burns and mints at once: its own credentials matter only if they are required.
        .filter(({ refusal }) => refusal !== undefined)
        .map((problem) => toWarning(problem, { registrar, instrument }, inputs, operation))
    );
  });
  return unusable === undefined ? warnings : [unusable.warning, ...warnings];
}
