/** Whether an allocation can be settled by the settlement factory, in a batch of its own leg. */
import type { Contract } from "../../../../domain/contract.js";
import type { View } from "../../../../store/port.js";
import type { Warning } from "../../../sdk/registry.js";
import type { EntryInputs } from "../../entries/context-entry.js";
import { groupOfInstruction } from "../../selection/group.js";
import type { Instruction } from "../../templates/instructions.js";
import { attemptWithFactories } from "../factory-attempts.js";
import { findFactoryProblem } from "../factory-problem.js";
import { findProblems } from "../find-problems.js";
import type { LinesByOperation } from "../operation-lines.js";
import { type PrefetchPhase, prefetchOperation } from "../prefetch.js";
import { type Subject, toWarning } from "../to-warning.js";
import type { RecordingContext } from "../views.js";

const OPERATION = "settlement-factory";

export function checkSettlement(
  context: RecordingContext,
  { factories: operations }: LinesByOperation,
  allocation: Contract<Instruction>,
  subject: Subject,
): Warning[] {
  const { view } = context;
  const group = groupOfInstruction(allocation.fields);
  const lines = operations.get(OPERATION);
  if (lines === undefined) return [];
  // The warning about the instrument names all operations that need a factory.
  if (findFactoryProblem(view, group) !== undefined) return [];
  const attempt = attemptWithFactories(context, group);
  return settlementInputs(allocation).flatMap((inputs) =>
    findProblems(lines, view, inputs, attempt).map((problem) => toWarning(problem, subject, inputs, OPERATION)),
  );
}

/** Inputs for each holder apart, so that a warning is about one party. */
function settlementInputs(allocation: Contract<Instruction>): readonly EntryInputs[] {
  const { instrumentId, sender, receiver } = allocation.fields;
  const instruments = [instrumentId];
  const parties = new Set([sender, receiver].filter((party) => party !== undefined));
  const holders = [...parties].map((party) => [{ party, instruments }]);
  return (holders.length === 0 ? [[]] : holders).map((ofOne) => ({
    instruments,
    holders: ofOne,
    allocations: [allocation],
  }));
}

export function prefetchSettlement(
  view: View,
  { factories }: LinesByOperation,
  allocation: Contract<Instruction>,
  phase: PrefetchPhase,
): void {
  const lines = factories.get(OPERATION);
  if (lines === undefined) return;
  const { admin: registrar, provider } = allocation.fields;
  for (const inputs of settlementInputs(allocation))
    prefetchOperation(view, lines, { ...inputs, registrar, provider }, phase);
}
