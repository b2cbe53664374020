import type { Warning } from "../../../sdk/registry.js";
import type { Group } from "../../selection/group.js";
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
  group: Group,
  instrument: string,
): Warning[] {
  const { view } = context;
  const { registrar } = group;
  const unusable = findFactoryProblem(view, group);
  const withFactories = attemptWithFactories(context, group);
  const direct = attemptDirectTransfer(context, group, instrument);
  return [...operations.values()].flatMap((lines) => {
    const { operation } = lines;
    const isDirect = operation === "transfer-factory/direct" && direct !== undefined;
    // Without a preapproval that counts, the transfer is an offer.
    const isOffer = operation === "transfer-factory/direct" && !isDirect;
    const answering = isOffer ? (operations.get("transfer-factory/offer") ?? lines) : lines;
    if (unusable?.fails(answering.operation) === true) return [unusable.warn([operation])];
    const inputs = factoryInputs(instrument);
    return findProblems(answering, view, inputs, isDirect ? direct : withFactories)
      .filter(({ refusal }) => refusal !== undefined)
      .map((problem) => toWarning(problem, { registrar, instrument }, inputs, operation));
  });
}
