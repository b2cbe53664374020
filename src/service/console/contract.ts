import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetContractResponseSchema } from "../../../gen/offledger/console/v1/console_pb.js";
import type { JsonObject } from "../../domain/json.js";
import type { QueryExecutor } from "../../registry/executor.js";
import type { Registry, RequestContext } from "../../registry/sdk/registry.js";
import { contractMessage, type PackageVersions } from "../explain/contract-message.js";
import { choiceCallMessage } from "./choice-call.js";

/** A contract of any template of the registry. */
export async function getContract(
  executor: QueryExecutor,
  contractId: string,
  versions: PackageVersions,
): Promise<MessageInitShape<typeof GetContractResponseSchema>> {
  const { value } = await executor.execute((registry, context) => find(registry, context, contractId));
  const { contract, isArchived, calls } = value;
  if (contract === undefined) return { archived: isArchived };
  return {
    contract: contractMessage(contract, versions),
    // The create arguments of a template are a record.
    payload: JSON.parse(contract.payload) as JsonObject,
    calls: calls.flatMap((call) => choiceCallMessage(call) ?? []),
  };
}

function find({ templates, lookup }: Registry, { view }: RequestContext, contractId: string) {
  view.prefetch(() => templates.map((template) => ({ template, contractId })));
  for (const template of templates) {
    const contract = view.byId(template, contractId);
    if (contract !== undefined) return { contract, isArchived: false, calls: lookup?.choices(contract) ?? [] };
  }
  return { contract: undefined, isArchived: view.wasArchived(contractId), calls: [] };
}
