import type { Contract } from "../../../store/store.js";
import { notFound, type RegistryError } from "../../errors.js";
import type { Instruction } from "../kinds/instructions.js";

/** A registrar is served where a factory of that party is held. */
export const notServed = (registrar: string): RegistryError =>
  notFound(`registrar ${registrar} is not served here: no AllocationFactory of that party is known`);

/**
 * The instruction that was looked for by id. One of another registrar is told
 * apart by nothing from one that does not exist.
 */
export function instructionOf(
  registrar: string | undefined,
  name: string,
  found: readonly Contract<Instruction>[] | undefined,
): Contract<Instruction> {
  const instruction = found?.[0];
  if (instruction !== undefined && (registrar ?? instruction.facts.admin) === instruction.facts.admin)
    return instruction;
  const of = registrar === undefined ? "" : ` of registrar ${registrar}`;
  throw notFound(`${name}${of} is not known here: there is none, or it has been archived`);
}
