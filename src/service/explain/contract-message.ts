import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CandidateSchema, ContractSchema } from "../../../gen/offledger/explain/v1/explain_pb.js";
import { type Contract, packageIdOf } from "../../domain/contract.js";
import type { ExplainedCandidate } from "../../registry/explain.js";
import { timestamp } from "../messages/timestamp.js";

/** Versions by package id, as the operator gives them. */
export type PackageVersion = (packageId: string) => string | undefined;

export function contractMessage(
  contract: Contract,
  versionOf: PackageVersion,
): MessageInitShape<typeof ContractSchema> {
  const { contractId, template, templateId, synchronizerId = "", createdMicros } = contract;
  const packageId = packageIdOf(templateId);
  return {
    contractId,
    template: template.qualifiedName,
    packageId,
    packageName: template.packageName,
    packageVersion: versionOf(packageId) ?? "",
    synchronizer: synchronizerId,
    createdAt: timestamp(createdMicros),
  };
}

export const candidateMessage = (
  { contract, isChosen, reason = "" }: ExplainedCandidate,
  versionOf: PackageVersion,
): MessageInitShape<typeof CandidateSchema> => ({
  contract: contractMessage(contract, versionOf),
  chosen: isChosen,
  reason,
});
