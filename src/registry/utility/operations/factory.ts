import type { Contract } from "../../../domain/contract.js";
import type { FactoryAnswer, RequestContext } from "../../sdk/registry.js";
import { ChoiceContextBuilder } from "../entries/choice-context-builder.js";
import { type ContextDefinition, prefetchContext, writeContext } from "../entries/context-definition.js";
import type { EntryInputs } from "../entries/context-entry.js";
import { onOneSynchronizer } from "../selection/candidates.js";
import { ContractSelector } from "../selection/contract-selector.js";
import type { TransferPreapproval } from "../templates/parties.js";
import type { AllocationFactory } from "../templates/services.js";

export interface FactoryRequest {
  readonly registrar: string;
  readonly definition: ContextDefinition;
  /** The candidates for the factory, newest first. */
  readonly factories: readonly Contract<AllocationFactory | TransferPreapproval>[];
  /** The choice's inputs, without what follows from the factory. */
  readonly inputs: Omit<EntryInputs, "provider" | "factory" | "subject" | "lockedHolding" | "otherLockedHoldings">;
}

/** Answers with the newest factory on whose synchronizer everything is that its choice requires. */
export function answerWithFactory(
  context: RequestContext,
  { registrar, definition, factories, inputs }: FactoryRequest,
  name: () => string,
): FactoryAnswer {
  const { view } = context;
  if (view.wantsPrefetch) {
    const providers = factories.flatMap((factory) => providerOf(factory) ?? []);
    const known = providers.length > 0 ? providers : undefined;
    prefetchContext(view, definition, { ...inputs, registrar, providers: known });
  }
  const { instruments, sender, sent, receiver, issuers, holders, allocations } = inputs;
  const { answer, selector: selected } = onOneSynchronizer(factories, name, (factory, synchronizer) => {
    const builder = new ChoiceContextBuilder();
    const selector = new ContractSelector(context, registrar, synchronizer);
    const provider = providerOf(factory);
    // A literal instead of a spread: all factories pass objects of one shape.
    writeContext(definition, builder, selector, {
      instruments,
      provider,
      sender,
      sent,
      receiver,
      issuers,
      holders,
      factory,
      subject: factory,
      allocations,
    });
    return { answer: builder.buildForFactory(factory), selector };
  });
  if (definition.refusesBlocklist) selected.rejectBlocklist();
  return answer;
}

/** Undefined for a preapproval, which names no provider. */
export function providerOf({ fields }: Contract<AllocationFactory | TransferPreapproval>): string | undefined {
  return "provider" in fields ? fields.provider : undefined;
}

export const allocationFactoryName = (registrar: string): string => `the AllocationFactory of registrar ${registrar}`;
