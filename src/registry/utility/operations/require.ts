import type { Contract } from "../../../domain/contract.js";
import type { Template } from "../../../domain/template.js";
import type { View } from "../../../store/port.js";
import { notFound, type RegistryError } from "../../../domain/errors.js";
import type { RequestContext } from "../../sdk/registry.js";
import { unknownInstruction } from "../../unknown-instruction.js";
import { type Group, namingGroup } from "../selection/group.js";
import type { Needed } from "../selection/needed.js";
import type { Instruction } from "../templates/instructions.js";
import { indexKeys } from "../templates/index-keys.js";
import { type AllocationFactory, allocationFactory } from "../templates/services.js";

/** The AllocationFactories of a registrar, newest first; empty for a registrar that is not served. */
export const findFactories = (view: View, registrar: string): readonly Contract<AllocationFactory>[] =>
  view.byKey(allocationFactory, indexKeys.factory(registrar));

export const neededFactory = (view: View, group: Group): Needed => ({
  name: `the AllocationFactory of registrar ${group.registrar}${namingGroup(findFactories(view, group.registrar), group)}`,
  kind: "factory",
  registrar: group.registrar,
  template: allocationFactory.qualifiedName,
});

/** As `findFactories`, at least one: a registrar without any is not served. */
export function requireFactories(view: View, registrar: string): readonly Contract<AllocationFactory>[] {
  const factories = findFactories(view, registrar);
  if (factories.length > 0) return factories;
  throw notServed(registrar);
}

export const notServed = (registrar: string): RegistryError =>
  notFound(`registrar ${registrar} is not served here: no AllocationFactory of that party is known`, {
    code: "registrar-not-served",
    about: { registrar, template: allocationFactory.qualifiedName },
  });

/** The instruction with this id, in any of the templates. */
export function findInstruction(
  view: View,
  templates: readonly Template<Instruction>[],
  contractId: string,
): Contract<Instruction> | undefined {
  for (const template of templates) {
    const found = view.byId(template, contractId);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The instruction, if it is of the registrar: one of another registrar is indistinguishable from one that does not
 * exist. Without a registrar, any.
 */
export function selectInstruction(
  { recorder }: RequestContext,
  registrar: string | undefined,
  label: string,
  contractId: string,
  instruction: Contract<Instruction> | undefined,
): Contract<Instruction> | undefined {
  const isOfRegistrar =
    instruction !== undefined && (registrar ?? instruction.fields.admin) === instruction.fields.admin;
  const chosen = isOfRegistrar ? instruction : undefined;
  recorder?.search({
    needed: { name: `${label} ${contractId}`, contractId, registrar },
    candidates: chosen === undefined ? [] : [chosen],
    chosen,
    required: true,
  });
  return chosen;
}

/**
 * As `selectInstruction`. Throws "not-found" without one. One that exists is answered even if the registrar has no
 * factory any more: reject, withdraw and cancel must always be possible.
 */
export function requireInstruction(
  context: RequestContext,
  registrar: string | undefined,
  label: string,
  contractId: string,
  instruction: Contract<Instruction> | undefined,
): Contract<Instruction> {
  const chosen = selectInstruction(context, registrar, label, contractId, instruction);
  if (chosen !== undefined) return chosen;
  if (registrar !== undefined) requireFactories(context.view, registrar);
  throw unknownInstruction(context.view, registrar, label, contractId);
}
