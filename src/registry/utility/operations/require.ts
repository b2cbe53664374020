/** What an operation begins with: it has to be there, or the request ends. */
import type { Contract } from "../../../domain/contract.js";
import type { ContractLookup, View } from "../../../store/port.js";
import { notFound } from "../../../domain/errors.js";
import type { Instruction } from "../templates/instructions.js";
import { indexKeys } from "../templates/index-keys.js";
import { type AllocationFactory, allocationFactory } from "../templates/services.js";

/** Every AllocationFactory of a registrar, newest first; a registrar is served where there is one. */
export function requireFactories(view: View, registrar: string): readonly Contract<AllocationFactory>[] {
  const factories = view.byKey(allocationFactory, indexKeys.factory(registrar));
  if (factories.length > 0) return factories;
  throw notFound(`registrar ${registrar} is not served here: no AllocationFactory of that party is known`);
}

/** The question for them. */
export const factoriesLookup = (registrar: string): ContractLookup => ({
  template: allocationFactory,
  indexKey: indexKeys.factory(registrar),
});

/**
 * The instruction that was looked for by id. One of another registrar is told
 * apart by nothing from one that does not exist.
 */
export function requireInstruction(
  registrar: string | undefined,
  noun: string,
  contractId: string,
  instruction: Contract<Instruction> | undefined,
): Contract<Instruction> {
  if (instruction !== undefined && (registrar ?? instruction.fields.admin) === instruction.fields.admin)
    return instruction;
  const of = registrar === undefined ? "" : ` of registrar ${registrar}`;
  throw notFound(`${noun} ${contractId}${of} is not known here: there is none, or it has been archived`);
}
