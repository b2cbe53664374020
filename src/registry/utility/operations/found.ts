/** What an operation begins with: it has to be there, or the request ends. */
import type { Contract, Question, View } from "../../../store/store.js";
import { notFound } from "../../errors.js";
import type { Instruction } from "../kinds/instructions.js";
import { keys } from "../kinds/keys.js";
import { type AllocationFactory, allocationFactory } from "../kinds/services.js";

/** Every AllocationFactory of a registrar, newest first; a registrar is served where there is one. */
export function factoriesOf(view: View, registrar: string): readonly Contract<AllocationFactory>[] {
  const factories = view.byKey(allocationFactory, keys.factory(registrar));
  if (factories.length > 0) return factories;
  throw notFound(`registrar ${registrar} is not served here: no AllocationFactory of that party is known`);
}

/** The question for them. */
export const askFactories = (registrar: string): Question => ({
  kind: allocationFactory,
  key: keys.factory(registrar),
});

/**
 * The instruction that was looked for by id. One of another registrar is told
 * apart by nothing from one that does not exist.
 */
export function instructionOf(
  registrar: string | undefined,
  noun: string,
  contractId: string,
  instruction: Contract<Instruction> | undefined,
): Contract<Instruction> {
  if (instruction !== undefined && (registrar ?? instruction.facts.admin) === instruction.facts.admin)
    return instruction;
  const of = registrar === undefined ? "" : ` of registrar ${registrar}`;
  throw notFound(`${noun} ${contractId}${of} is not known here: there is none, or it has been archived`);
}
