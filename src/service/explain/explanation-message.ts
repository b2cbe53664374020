import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AttemptSchema,
  ChangeSchema,
  ExplainResponseSchema,
  RequiredClaimSchema,
  RequirementSchema,
  SearchSchema,
} from "../../../gen/offledger/explain/v1/explain_pb.js";
import type { Cause } from "../../domain/cause.js";
import type {
  ExplainedAttempt,
  ExplainedClaim,
  ExplainedRequirement,
  ExplainedSearch,
} from "../../registry/explain/explanation.js";
import { remedyOf } from "../../registry/explain/remedies.js";
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
  const { attempts = [], searches = [], requirements = [], disclosures = [], changes } = explanation ?? {};
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
    changes: changesOf(causes, changes).flatMap((cause) => changeMessage(cause, searches, asked) ?? []),
    changesNote: explanation?.changesNote ?? "",
    notes: [...(explanation?.notes ?? [])],
    attempts: attempts.map((attempt) => attemptMessage(attempt, packageVersion)),
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

/** The changes that the rules found, or else those that the causes ask for. A wrong request has none. */
function changesOf(causes: readonly Cause[], found: readonly Cause[] | undefined): readonly Cause[] {
  if (causes.length === 0) return [];
  return found === undefined || found.length === 0 ? causes : found;
}

/** Undefined if there is nothing to do about the cause. */
function changeMessage(
  cause: Cause,
  searches: readonly ExplainedSearch[],
  asked: number | undefined,
): MessageInitShape<typeof ChangeSchema> | undefined {
  const remedy = searches.find((search) => isAbout(search, cause))?.remedy ?? remedyOf(cause, asked);
  return remedy === "" ? undefined : { cause: causeMessage(cause), remedy };
}

/** The causes of which a search may know more. */
const SEARCHED = new Set(["instruction-unknown", "registrar-not-served", "configuration-missing"]);

const isAbout = ({ sought, remedy }: ExplainedSearch, { code, registrar, contractId, instrument }: Cause): boolean =>
  remedy !== undefined &&
  SEARCHED.has(code) &&
  registrar === sought.registrar &&
  instrument === sought.instrument &&
  (contractId === undefined || contractId === sought.contractId);

const attemptMessage = (
  { name, contract, causes, isAnswered }: ExplainedAttempt,
  packageVersion: PackageVersion,
): MessageInitShape<typeof AttemptSchema> => ({
  name,
  contract: contractMessage(contract, packageVersion),
  causes: causes.map(causeMessage),
  answered: isAnswered,
});

const searchMessage = (
  { name, template = "", synchronizer = "", entries, required, candidates, attempt, omitted }: ExplainedSearch,
  packageVersion: PackageVersion,
): MessageInitShape<typeof SearchSchema> => ({
  name,
  template,
  synchronizer,
  entries: [...entries],
  required,
  candidates: candidates.map((candidate) => candidateMessage(candidate, packageVersion)),
  attempt,
  omittedCandidates: omitted,
});

const requirementMessage = (
  { party, issuer, instruments, attempt, synchronizer = "", required, claims }: ExplainedRequirement,
  packageVersion: PackageVersion,
): MessageInitShape<typeof RequirementSchema> => ({
  party,
  issuer,
  instruments: [...instruments],
  synchronizer,
  required,
  claims: claims.map((claim) => claimMessage(claim, packageVersion)),
  attempt,
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
