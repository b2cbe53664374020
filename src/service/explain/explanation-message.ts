import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ChangeSchema,
  ExplainResponseSchema,
  RequiredClaimSchema,
  RequirementSchema,
  SearchSchema,
} from "../../../gen/offledger/explain/v1/explain_pb.js";
import type { Cause } from "../../domain/cause.js";
import type { ExplainedClaim, ExplainedRequirement, ExplainedSearch } from "../../registry/explain/explanation.js";
import { remedyOf } from "../../registry/explain/remedies.js";
import { causeMessage } from "../cause.js";
import { timestamp } from "../timestamp.js";
import { candidateMessage, contractMessage, type PackageVersions } from "./contract-message.js";
import type { Explained } from "./explainer.js";

const MICROS_PER_MS = 1_000;

export function explanationMessage(
  { operation, request, at, offset = 0, answer, refusal, validUntil, explanation }: Explained,
  versions: PackageVersions,
): MessageInitShape<typeof ExplainResponseSchema> {
  const { searches = [], requirements = [], disclosures = [], changes } = explanation ?? {};
  const causes = refusal?.causes ?? [];
  return {
    operation,
    request,
    at: timestamp(at * MICROS_PER_MS),
    offset: BigInt(offset),
    succeeds: refusal === undefined,
    ...(answer !== undefined && { answer }),
    status: refusal?.status ?? "",
    error: refusal?.message ?? "",
    causes: causes.map(causeMessage),
    changes: changesOf(causes, changes).map(changeMessage),
    searches: searches.map((search) => searchMessage(search, versions)),
    requirements: requirements.map((requirement) => requirementMessage(requirement, versions)),
    disclosures:
      refusal === undefined
        ? disclosures.map(({ contract, entries }) => ({
            contract: contractMessage(contract, versions),
            entries: [...entries],
          }))
        : [],
    ...(validUntil !== undefined && { validUntil: timestamp(validUntil) }),
  };
}

/** The changes that the rules found, or else those that the causes ask for. A wrong request has none. */
function changesOf(causes: readonly Cause[], found: readonly Cause[] | undefined): readonly Cause[] {
  if (causes.length === 0) return [];
  const changes = found === undefined || found.length === 0 ? causes : found;
  return changes.filter((cause) => remedyOf(cause) !== "");
}

const changeMessage = (cause: Cause): MessageInitShape<typeof ChangeSchema> => ({
  cause: causeMessage(cause),
  remedy: remedyOf(cause),
});

const searchMessage = (
  { name, template = "", synchronizer = "", entries, required, candidates }: ExplainedSearch,
  versions: PackageVersions,
): MessageInitShape<typeof SearchSchema> => ({
  name,
  template,
  synchronizer,
  entries: [...entries],
  required,
  candidates: candidates.map((candidate) => candidateMessage(candidate, versions)),
});

const requirementMessage = (
  { party, issuer, instruments, synchronizer = "", required, claims }: ExplainedRequirement,
  versions: PackageVersions,
): MessageInitShape<typeof RequirementSchema> => ({
  party,
  issuer,
  instruments: [...instruments],
  synchronizer,
  required,
  claims: claims.map((claim) => claimMessage(claim, versions)),
});

const claimMessage = (
  { property, value, credential, validUntil, passedOver }: ExplainedClaim,
  versions: PackageVersions,
): MessageInitShape<typeof RequiredClaimSchema> => ({
  property,
  value,
  credential: credential?.contractId ?? "",
  ...(validUntil !== undefined && { validUntil: timestamp(validUntil) }),
  passedOver: passedOver.map((candidate) => candidateMessage(candidate, versions)),
});
