import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CandidateSchema, ContractSchema } from "../../../gen/offledger/explain/v1/explain_pb.js";
import { type Contract, packageIdOf } from "../../domain/contract.js";
import type { ExplainedCandidate } from "../../registry/explain/explanation.js";
import { timestamp } from "../messages/timestamp.js";

/** Versions by package id, as the operator gives them. */
export type PackageVersions = ReadonlyMap<string, string>;

export function contractMessage(
  contract: Contract,
  versions: PackageVersions,
): MessageInitShape<typeof ContractSchema> {
  const { contractId, template, templateId, synchronizerId = "", createdMicros } = contract;
  const packageId = packageIdOf(templateId);
  return {
    contractId,
    template: template.qualifiedName,
    packageId,
    packageName: template.packageName,
    packageVersion: versions.get(packageId) ?? "",
    synchronizer: synchronizerId,
    createdAt: timestamp(createdMicros),
  };
}

export const candidateMessage = (
  { contract, isChosen, reason = "" }: ExplainedCandidate,
  versions: PackageVersions,
): MessageInitShape<typeof CandidateSchema> => ({
  contract: contractMessage(contract, versions),
  chosen: isChosen,
  reason,
});
