import type { Contract } from "../../../domain/contract.js";
import type { Operation } from "../contexts/operations.js";
import type { Warning } from "../../sdk/registry.js";
import { inReassignment as errorOf } from "../selection/candidates.js";
import type { Instruction } from "../templates/instructions.js";
import { remedies } from "./remedies.js";

/** The warning for an instruction between synchronizers, on which no choice can be exercised. */
export const inReassignment = (
  instruction: Contract<Instruction>,
  label: string,
  operations: readonly Operation[],
): Warning => ({
  kind: "instruction-in-reassignment",
  registrar: instruction.fields.admin,
  instrument: instruction.fields.instrumentId,
  contractId: instruction.contractId,
  operations,
  refusal: "conflict",
  problem: errorOf(instruction, { name: `the ${label}`, kind: "instruction" }).message,
  remedy: remedies["instruction-in-reassignment"],
});
