import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetContractResponseSchema } from "../../../gen/offledger/console/v1/console_pb.js";
import type { JsonObject } from "../../domain/json.js";
import type { QueryExecutor } from "../../registry/executor.js";
import { findContract } from "../../registry/party-search.js";
import { contractMessage, type PackageVersion } from "../explain/contract-message.js";
import { choiceCallMessage } from "./choice-call.js";

/** A contract of any template of the registry. */
export async function getContract(
  executor: QueryExecutor,
  contractId: string,
  packageVersion: PackageVersion,
): Promise<MessageInitShape<typeof GetContractResponseSchema>> {
  const { value } = await executor.execute((registry, context) => findContract(registry, context, contractId));
  const { contract, isArchived, calls } = value;
  if (contract === undefined) return { archived: isArchived };
  return {
    contract: contractMessage(contract, packageVersion),
    // The create arguments of a template are a record.
    payload: JSON.parse(contract.payload) as JsonObject,
    calls: calls.flatMap((call) => choiceCallMessage(call) ?? []),
  };
}
