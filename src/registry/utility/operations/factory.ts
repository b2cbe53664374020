import type { Contract } from "../../../domain/contract.js";
import { attemptAll, type RegistryError } from "../../../domain/errors.js";
import type { Considered, FactoryAnswer, RequestContext } from "../../sdk/registry.js";
import { ChoiceContextBuilder } from "../entries/choice-context-builder.js";
import { type ContextDefinition, prefetchContext, writeContext } from "../entries/context-definition.js";
import type { EntryInputs } from "../entries/context-entry.js";
import { activeOn, notOnSynchronizer, onOneSynchronizer } from "../selection/candidates.js";
import type { View } from "../../../store/port.js";
import { ContractSelector } from "../selection/contract-selector.js";
import type { Needed } from "../selection/needed.js";
import type { TransferPreapproval } from "../templates/parties.js";
import type { AllocationFactory } from "../templates/services.js";
import { explainingFailure } from "./record-changes.js";
import { neededFactory, notServed } from "./require.js";

type Factory = Contract<AllocationFactory | TransferPreapproval>;

export interface FactoryRequest {
  readonly registrar: string;
  readonly definition: ContextDefinition;
  /** The candidates for the factory, newest first; empty if the registrar is not served. */
  readonly factories: readonly Factory[];
  /** The choice's inputs, without what follows from the factory. */
  readonly inputs: Omit<EntryInputs, "provider" | "factory" | "subject" | "lockedHolding" | "otherLockedHoldings">;
  /** What the factory is; by default the AllocationFactory of the registrar. */
  readonly needed?: () => Needed;
  /** What the explanation shows in place of the factories. */
  readonly considered?: Considered | undefined;
  /** Why the request is refused in any case, at least one; undefined if it is not. What else is missing is named too. */
  readonly refusals?: readonly RegistryError[] | undefined;
}

/** Answers with the newest factory on whose synchronizer everything is that its choice requires. */
export function answerWithFactory(context: RequestContext, request: FactoryRequest): FactoryAnswer {
  const { registrar, inputs } = request;
  if (context.recorder === undefined) return answer(context, request);
  return explainingFailure(
    context,
    { registrar, instruments: inputs.instruments },
    () => answer(context, request),
    (plain, synchronizer) => attemptOn(plain, request, synchronizer),
  );
}

function answer(context: RequestContext, request: FactoryRequest): FactoryAnswer {
  // This throws: the answer is only attempted to find what else is missing.
  if (request.refusals !== undefined)
    attemptAll([...refusalSteps(request), () => void answerOnOneSynchronizer(context, request)]);
  return answerOnOneSynchronizer(context, request);
}

/** Steps for `attemptAll`. That the registrar is not served comes first, as for every request. */
const refusalSteps = ({ registrar, factories, refusals = [] }: FactoryRequest): (() => never)[] =>
  [...(factories.length === 0 ? [notServed(registrar)] : []), ...refusals].map((error) => () => {
    throw error;
  });

function answerOnOneSynchronizer(context: RequestContext, request: FactoryRequest): FactoryAnswer {
  const { registrar, definition, factories, considered, needed = () => neededFactory(registrar) } = request;
  const { view, recorder } = context;
  if (factories.length === 0) {
    recorder?.search({ needed: needed(), candidates: [], chosen: undefined, required: true });
    throw notServed(registrar);
  }
  prefetch(view, request);
  const { builder, selector, factory } = onOneSynchronizer(
    factories,
    needed,
    recorder,
    (candidate, synchronizer) => write(context, request, candidate, synchronizer),
    considered,
  );
  if (definition.refusesBlocklist) selector.rejectBlocklist();
  return builder.buildForFactory(factory);
}

function prefetch(view: View, { registrar, definition, factories, inputs }: FactoryRequest): void {
  if (!view.wantsPrefetch) return;
  const providers = factories.flatMap((factory) => providerOf(factory) ?? []);
  const known = providers.length > 0 ? providers : undefined;
  prefetchContext(view, definition, { ...inputs, registrar, providers: known });
}

/** `factory` is undefined only where it is explained what else is missing. */
function write<F extends Factory | undefined>(
  context: RequestContext,
  { registrar, definition, inputs }: FactoryRequest,
  factory: F,
  synchronizer: string,
): { readonly builder: ChoiceContextBuilder; readonly selector: ContractSelector; readonly factory: F } {
  const { instruments, sender, sent, receiver, issuers, holders, allocations } = inputs;
  const builder = new ChoiceContextBuilder(context.recorder);
  const selector = new ContractSelector(context, registrar, synchronizer);
  // A literal instead of a spread: all factories pass objects of one shape.
  writeContext(definition, builder, selector, {
    instruments,
    provider: factory === undefined ? undefined : providerOf(factory),
    sender,
    sent,
    receiver,
    issuers,
    holders,
    factory,
    subject: factory,
    allocations,
  });
  return { builder, selector, factory };
}

/** Throws a RegistryError that names all that has to change for an answer on the synchronizer. */
function attemptOn(context: RequestContext, request: FactoryRequest, synchronizer: string): void {
  const { registrar, definition, factories, needed = () => neededFactory(registrar) } = request;
  const [newest] = factories;
  prefetch(context.view, request);
  const here = activeOn(factories, synchronizer);
  attemptAll([
    ...refusalSteps(request),
    () => {
      if (newest !== undefined && here === undefined) throw notOnSynchronizer(newest, synchronizer, needed());
    },
    () => {
      const selector = write(context, request, here ?? newest, synchronizer).selector;
      if (definition.refusesBlocklist) selector.rejectBlocklist();
    },
  ]);
}

/** Undefined for a preapproval, which names no provider. */
export function providerOf({ fields }: Factory): string | undefined {
  return "provider" in fields ? fields.provider : undefined;
}
