import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ChangeSchema,
  ExplainResponseSchema,
  RequiredClaimSchema,
  RequirementSchema,
  SearchSchema,
} from "../../../gen/offledger/explain/v1/explain_pb.js";
import type { Cause } from "../../domain/errors.js";
import {
  type ExplainedClaim,
  type ExplainedRequirement,
  type ExplainedSearch,
  remedyOf,
} from "../../registry/explain.js";
import { causeMessage } from "../messages/cause.js";
import { timestamp } from "../messages/timestamp.js";
import { candidateMessage, contractMessage, type PackageVersion } from "./contract-message.js";
import type { Explained } from "./explainer.js";

const MICROS_PER_MS = 1_000;

/** `asked` is the time for which the explanation was asked, in milliseconds since 1970; undefined for now. */
export function explanationMessage(
  { operation, request, at, offset = 0, answer, refusal, validUntil, explanation }: Explained,
  packageVersion: PackageVersion,
  asked: number | undefined,
): MessageInitShape<typeof ExplainResponseSchema> {
  const { searches = [], requirements = [], disclosures = [], notes = [] } = explanation ?? {};
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
    changes: causes.flatMap((cause) => changeMessage(cause, asked)),
    notes: [...notes],
    searches: searches.map((search) => searchMessage(search, packageVersion)),
    requirements: requirements.map((requirement) => requirementMessage(requirement, packageVersion)),
    disclosures:
      refusal === undefined
        ? disclosures.map(({ contract, entries }) => ({
            contract: contractMessage(contract, packageVersion),
            entries: [...entries],
          }))
        : [],
    ...(validUntil !== undefined && { validUntil: timestamp(validUntil) }),
  };
}

/** Empty if there is nothing to do about the cause: the request itself is wrong. */
function changeMessage(cause: Cause, asked: number | undefined): MessageInitShape<typeof ChangeSchema>[] {
  const remedy = remedyOf(cause, asked);
  return remedy === "" ? [] : [{ cause: causeMessage(cause), remedy }];
}

const searchMessage = (
  { name, template = "", synchronizer = "", entries, required, candidates, omitted }: ExplainedSearch,
  packageVersion: PackageVersion,
): MessageInitShape<typeof SearchSchema> => ({
  name,
  template,
  synchronizer,
  entries: [...entries],
  required,
  candidates: candidates.map((candidate) => candidateMessage(candidate, packageVersion)),
  omittedCandidates: omitted,
});

const requirementMessage = (
  { party, issuer, instruments, synchronizer = "", required, claims }: ExplainedRequirement,
  packageVersion: PackageVersion,
): MessageInitShape<typeof RequirementSchema> => ({
  party,
  issuer,
  instruments: [...instruments],
  synchronizer,
  required,
  claims: claims.map((claim) => claimMessage(claim, packageVersion)),
});

const claimMessage = (
  { property, value, credential, validUntil, passedOver, omitted }: ExplainedClaim,
  packageVersion: PackageVersion,
): MessageInitShape<typeof RequiredClaimSchema> => ({
  property,
  value,
  credential: credential?.contractId ?? "",
  ...(validUntil !== undefined && { validUntil: timestamp(validUntil) }),
  passedOver: passedOver.map((candidate) => candidateMessage(candidate, packageVersion)),
  omittedPassedOver: omitted,
});
