import type { FactoryQuery, RequestContext, TransferFactoryAnswer, TransferKind } from "../../sdk/registry.js";
import { factoryContexts } from "../choice-contexts.js";
import type { ContextDefinition } from "../entries/context-definition.js";
import { indexKeys } from "../templates/index-keys.js";
import { transferPreapproval } from "../templates/parties.js";
import { transferArguments } from "./arguments.js";
import { allocationFactoryName, answerWithFactory } from "./factory.js";
import { factoriesLookup, requireFactories } from "./require.js";

const definitions: Readonly<Record<TransferKind, ContextDefinition>> = {
  offer: factoryContexts["transfer-factory/offer"],
  direct: factoryContexts["transfer-factory/direct"],
  self: factoryContexts["transfer-factory/self"],
};

/** The receiver's preapproval if one covers the instrument, else the AllocationFactory. Ignores the input holdings. */
export function transferFactory(context: RequestContext, query: FactoryQuery): TransferFactoryAnswer {
  const { view } = context;
  const { registrar } = query;
  const { sender, receiver, instrumentId } = transferArguments(query);
  const preapprovalKey = indexKeys.preapproval(receiver, registrar);
  if (view.wantsPrefetch)
    view.prefetch(() => [factoriesLookup(registrar), { template: transferPreapproval, indexKey: preapprovalKey }]);
  const allocationFactories = requireFactories(view, registrar);
  const preapprovals = view
    .byKey(transferPreapproval, preapprovalKey)
    .filter(
      ({ fields }) => fields.instrumentAllowances.length === 0 || fields.instrumentAllowances.includes(instrumentId),
    );

  const transferKind = sender === receiver ? "self" : preapprovals.length > 0 ? "direct" : "offer";
  const isDirect = transferKind === "direct";
  const name = () => (isDirect ? `the TransferPreapproval of receiver ${receiver}` : allocationFactoryName(registrar));
  const request = {
    registrar,
    definition: definitions[transferKind],
    factories: isDirect ? preapprovals : allocationFactories,
    inputs: { instruments: [instrumentId], sender, receiver },
  };
  const { factoryId, values, disclosed } = answerWithFactory(context, request, name);
  return { factoryId, transferKind, values, disclosed };
}
