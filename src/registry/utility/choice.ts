import type { Contract } from "../../domain/contract.js";
import { attemptAll, notFound, RegistryError } from "../../domain/errors.js";
import type { Template } from "../../domain/template.js";
import type { View } from "../../store/port.js";
import type { ChoiceQuery, ContextAnswer, InstrumentConfiguration, Recorder, RequestContext } from "../sdk/registry.js";
import { ChoiceContextBuilder, type ContextDefinition, type EntryInputs, writeContext } from "./context.js";
import type { ChoiceContextDefinition } from "./contexts/contexts.js";
import { candidateConfigurations, type Group, groupOfInstruction, namingGroup } from "./group.js";
import { indexKeys } from "./index-keys.js";
import { type Instruction, instrumentsOf } from "./instructions.js";
import { type Needed, notOnSynchronizer, requireSynchronizer, unknownInstruction } from "../needed.js";
import { ContractSelector } from "./selector.js";
import { type AllocationFactory, allocationFactory } from "./templates.js";

/** The context of a choice on one instruction, whose operator and provider are those of everything else in it. */
export function choiceContext(
  context: RequestContext,
  definition: ChoiceContextDefinition,
  { registrar, contractId }: ChoiceQuery,
): ContextAnswer {
  const { label, templates } = definition;
  const found = findInstruction(context.view, templates, contractId);
  const instruction = requireInstruction(context, registrar, label, contractId, found);
  const inputs = instructionInputs(instruction);
  const group = groupOfInstruction(instruction.fields);
  const { admin } = instruction.fields;
  const needed = { name: `the ${label}`, kind: "instruction", registrar: admin };
  const answer = () => {
    const synchronizer = requireSynchronizer(instruction, needed);
    context.recorder?.attempt(needed, [instruction], instruction);
    return contextOn(context, definition, group, synchronizer, inputs);
  };
  if (context.recorder === undefined) return answer();
  return explainingFailure(context, { ...inputs, registrar: admin }, answer, (plain, synchronizer) => {
    attemptAll([
      () => requireOn(instruction, synchronizer, needed),
      () => void contextOn(plain, definition, group, synchronizer, inputs),
    ]);
  });
}

function requireOn(contract: Contract, synchronizer: string, needed: Needed): void {
  if (contract.synchronizerId !== synchronizer) throw notOnSynchronizer(contract, synchronizer, needed);
}

/** What the entries of a choice on the instruction are about. */
export function instructionInputs(instruction: Contract<Instruction>): EntryInputs {
  const { lockedHolding, otherLockedHoldings, provider, sender, receiver, issuers } = instruction.fields;
  return {
    instruments: instrumentsOf(instruction.fields),
    provider,
    sender,
    receiver,
    issuers,
    lockedHolding,
    otherLockedHoldings,
    subject: instruction,
  };
}

/** The context of a choice on a contract on this synchronizer. */
export function contextOn(
  context: RequestContext,
  definition: ContextDefinition,
  group: Group,
  synchronizer: string,
  inputs: EntryInputs,
): ContextAnswer {
  const { refusesBlocklist } = definition;
  const builder = new ChoiceContextBuilder(context.recorder);
  const selector = new ContractSelector(context, group, synchronizer, definition);
  writeContext(definition, builder, selector, inputs);
  if (refusesBlocklist) selector.rejectBlocklist();
  return builder.build();
}

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
function requireInstruction(
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

/** Explanations say what would have to change for a refused request to succeed. */

/** Records nothing: only the request itself is recorded. */
const withoutRecorder = (context: RequestContext): RequestContext => ({
  view: context.view,
  now: context.now,
  hasReachedEnd: context.hasReachedEnd,
  readHoldings: (contractIds) => context.readHoldings(contractIds),
  mayChangeAt: () => undefined,
});

/**
 * Runs `answer`, and notes which configurations are paused. If it fails and is explained, `attempt` is run on each
 * synchronizer that has contracts of the request, to find the one on which least has to change. It throws the error that
 * names all of it.
 */
export function explainingFailure<T>(
  context: RequestContext,
  { registrar, instruments }: { readonly registrar: string; readonly instruments: readonly string[] },
  answer: () => T,
  attempt: (context: RequestContext, synchronizer: string) => void,
): T {
  const { recorder, view } = context;
  if (recorder === undefined) return answer();
  const noteConfigurations = (): readonly Contract[] => {
    const configurations = instruments.flatMap((id) => [...candidateConfigurations(view, registrar, id)]);
    for (const configuration of configurations) notePaused(recorder, configuration);
    return configurations;
  };
  try {
    const answered = answer();
    noteConfigurations();
    return answered;
  } catch (error) {
    if (!(error instanceof RegistryError) || error.reason === "unavailable") throw error;
    const plain = withoutRecorder(context);
    recorder.refused(error, noteConfigurations(), (synchronizer) => attempt(plain, synchronizer));
    throw error;
  }
}

/** The rules do not refuse an instrument that is paused; the ledger may. */
function notePaused(recorder: Recorder, configuration: Contract<InstrumentConfiguration>): void {
  const { paused, defaultIdentifier, registrar } = configuration.fields;
  if (!paused) return;
  const sentence = `Instrument "${defaultIdentifier.id}" of registrar ${registrar} is paused: the choice may fail on the ledger.`;
  recorder.note(configuration, sentence);
}
