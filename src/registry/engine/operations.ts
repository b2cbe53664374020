/** How an operation is answered: with a factory, or on an instruction. */
import type { Contract } from "../../domain/contract.js";
import { attemptAll, type RegistryError } from "../../domain/errors.js";
import type { JsonObject } from "../../util/json.js";
import type { Template } from "../../domain/template.js";
import { hasUnreadable } from "../../state/port.js";
import { inReassignment, type Needed, onOneSynchronizer, unknownInstruction } from "../needed.js";
import type {
  Choice,
  ChoiceQuery,
  Considered,
  ContextResult,
  FactoryResult,
  IssuanceChoice,
  RequestContext,
} from "../sdk/registry.js";
import { type ContextDefinition, type RequestSubject, subjectOf, writeContext } from "./choice-context.js";
import { type Group, unreadable } from "./selector.js";
import type { TableFields } from "./templates.js";

/** The choices on instructions of a kind. */
export interface ChoiceDefinition extends ContextDefinition {
  readonly operation: Choice | IssuanceChoice;
  /** What messages call the instruction. */
  readonly label: string;
  /** As the views of version 2 name it: `accept`. */
  readonly action: string;
  readonly templates: readonly Template<TableFields>[];
}

/** The group of what an instruction needs. */
export type GroupOf = (instruction: Contract<TableFields>) => Group;

/** The context of a choice on one instruction. `requireServed` throws "not-found" for a registrar that is not served. */
export function answerChoice(
  context: RequestContext,
  definition: ChoiceDefinition,
  { registrar, contractId, meta }: ChoiceQuery,
  groupOf: GroupOf,
  requireServed: (registrar: string) => void,
): ContextResult {
  const found = findInstruction(context, definition, contractId);
  const instruction = selectInstruction(context, registrar, definition.label, contractId, found);
  if (instruction === undefined) {
    // One that exists is answered even if the registrar has no factory any more.
    if (registrar !== undefined) requireServed(registrar);
    throw unknownInstruction(context.view, registrar, definition.label, contractId);
  }
  return answerOn(context, definition, instruction, groupOf(instruction), meta);
}

/** The context of a choice on the instruction. */
export function answerOn(
  context: RequestContext,
  definition: ChoiceDefinition,
  instruction: Contract<TableFields>,
  group: Group,
  meta?: JsonObject,
): ContextResult {
  const { synchronizerId } = instruction;
  if (synchronizerId === undefined)
    throw inReassignment(instruction, {
      name: `the ${definition.label}`,
      kind: "instruction",
      registrar: group.registrar,
    });
  context.recorder?.answerWith(instruction);
  const { actions } = instruction.fields;
  if (actions?.includes(definition.action) === false)
    context.recorder?.remark(nobodyMay(definition.action, definition.label, actions));
  return writeContext(context, definition, group, synchronizerId, subjectOf(instruction, meta)).build();
}

const nobodyMay = (action: string, label: string, actions: readonly string[]): string =>
  `The ${label}'s own view says that nobody may ${action} it: ` +
  `${actions.length === 0 ? "no action is available" : `what somebody may is ${actions.join(", ")}`}.`;

/** The instruction with this id, in any of the templates. Throws "unavailable" for one that could not be parsed. */
export function findInstruction(
  { view }: RequestContext,
  { label, templates }: Pick<ChoiceDefinition, "label" | "templates">,
  contractId: string,
): Contract<TableFields> | undefined {
  for (const template of templates) {
    const found = view.byId(template, contractId);
    if (found !== undefined) return found;
  }
  const unread = templates.find((template) => hasUnreadable(view, template, contractId));
  if (unread !== undefined) throw unreadable(unread, label, contractId);
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
  instruction: Contract<TableFields> | undefined,
): Contract<TableFields> | undefined {
  const isOfRegistrar =
    instruction !== undefined && (registrar ?? instruction.fields.registrar) === instruction.fields.registrar;
  const chosen = isOfRegistrar ? instruction : undefined;
  recorder?.search({
    needed: { name: `${label} ${contractId}` },
    candidates: chosen === undefined ? [] : [chosen],
    chosen,
    required: true,
  });
  return chosen;
}

export interface FactoryRequest {
  readonly definition: ContextDefinition;
  readonly group: Group;
  /** The candidates for the factory, in the order in which they are tried. */
  readonly factories: readonly Contract<TableFields>[];
  readonly needed: () => Needed;
  /** The synchronizer that the request names: candidates there are tried first. */
  readonly targetSynchronizer?: string | undefined;
  /** Whether more is elsewhere of what the answer does not require: then they are not. */
  readonly isTargetIncomplete?: boolean;
  /** What the explanation shows in place of the factories. */
  readonly considered?: Considered | undefined;
  /** What the request is about, without what follows from the factory. */
  readonly subject: Omit<RequestSubject, "factory" | "contract">;
  /** Why the request is refused in any case, at least one; undefined if it is not. What else is missing is named too. */
  readonly refusals?: readonly RegistryError[] | undefined;
}

/** Answers with the first factory on whose synchronizer everything is that its choice requires. */
export function answerWithFactory(context: RequestContext, request: FactoryRequest): FactoryResult {
  const { definition, group, subject, factories, considered, needed, refusals } = request;
  const { targetSynchronizer: target, isTargetIncomplete = false } = request;
  const answer = () =>
    onOneSynchronizer(
      isTargetIncomplete ? factories : onFirst(factories, target),
      needed,
      context.recorder,
      (factory, synchronizer) => {
        const onFactory = { ...subject, factory, contract: factory };
        const found = writeContext(context, definition, group, synchronizer, onFactory).buildForFactory(factory);
        if (target !== undefined && target !== synchronizer)
          context.recorder?.remark(notOnTarget(target, synchronizer));
        return found;
      },
      considered,
    );
  if (refusals === undefined) return answer();
  const steps = refusals.map((error) => () => {
    throw error;
  });
  // This throws: the answer is only attempted to find what else is missing.
  attemptAll([...steps, () => void answer()]);
  return answer();
}

const notOnTarget = (target: string, synchronizer: string): string =>
  `The request names synchronizer ${target}, where not everything is that this answer needs: ` +
  `it is on ${synchronizer}, with the newest that is complete.`;

/** The candidates on the synchronizer first. Otherwise the order stays. */
const onFirst = <F>(candidates: readonly Contract<F>[], synchronizer: string | undefined): readonly Contract<F>[] =>
  synchronizer === undefined || candidates.length < 2
    ? candidates
    : candidates.toSorted(
        (a, b) => Number(b.synchronizerId === synchronizer) - Number(a.synchronizerId === synchronizer),
      );
