import type { Contract } from "../../../domain/contract.js";
import type { RequestContext, Requirement } from "../../sdk/registry.js";
import { indexKeys } from "../templates/index-keys.js";
import { claimsOn, type Credential, credential } from "../templates/parties.js";
import { missing, notOnSynchronizer } from "./candidates.js";
import type { ContractSelector } from "./contract-selector.js";
import { chooseCredentials, type CredentialSelection, indexOfIssuer, type LackingClaims } from "./credentials.js";
import type { Needed } from "./needed.js";
import { recordCredentials } from "./record-credentials.js";
import { requirementsOf, type Role } from "./requirements.js";
import { includesClaim } from "./smallest-cover.js";

/**
 * The credentials by which a party meets the requirements of instruments. If some are missing, what there is of them;
 * if they are `required`, the answer fails with "not-found". It fails with "conflict" if the party has the missing ones on
 * another synchronizer, or in reassignment.
 */
export function selectCredentials(
  selector: ContractSelector,
  party: string,
  role: Role,
  instruments: readonly string[],
  required: boolean,
): readonly Contract<Credential>[] {
  const requirements = collectRequirements(selector, role, instruments);
  if (requirements.length === 0) return [];
  const { synchronizer, context } = selector;
  const { now } = context;
  const candidates = findCandidates(selector, party, requirements);
  noteValidity(context, candidates);
  const here = filterSynchronizer(candidates, synchronizer);
  const selection = chooseCredentials(party, requirements, here, now);
  if (context.recorder !== undefined)
    recordCredentials(selector, party, role, instruments, { candidates, selection, required });
  if (selection.lacking.length === 0) return selection.chosen;
  const anywhere = here === candidates ? selection : chooseCredentials(party, requirements, candidates, now);
  for (const lacking of selection.lacking) {
    const elsewhere = findElsewhere(party, lacking, anywhere, synchronizer);
    if (elsewhere !== undefined) selector.fail(notOnSynchronizer(elsewhere, synchronizer, neededFor(party, lacking)));
  }
  if (required) for (const lacking of anywhere.lacking) selector.fail(missing(neededFor(party, lacking)));
  return selection.chosen;
}

/** A chosen credential elsewhere that makes a claim which those of its issuer on the synchronizer do not make. */
function findElsewhere(
  party: string,
  { issuer, claims }: LackingClaims,
  anywhere: CredentialSelection,
  synchronizer: string,
): Contract<Credential> | undefined {
  return anywhere.chosen.find(
    ({ synchronizerId, fields }) =>
      synchronizerId !== synchronizer &&
      issuer === fields.issuer &&
      claims.some((claim) => includesClaim(claimsOn(fields, party), claim)),
  );
}

function neededFor(party: string, { issuer, claims }: LackingClaims): Needed {
  const listed = claims.map(({ property, value }) => `${property} = ${value}`).join(", ");
  return {
    name: `a valid credential for ${party} from issuer ${issuer} with the claim ${listed}`,
    kind: "credential",
    party,
    issuer,
    claims,
    template: credential.qualifiedName,
  };
}

function collectRequirements(
  selector: ContractSelector,
  role: Role,
  instruments: readonly string[],
): readonly Requirement[] {
  const [only, second] = instruments;
  if (only !== undefined && second === undefined) return requirementsOf(selector, role, only);
  return instruments.flatMap((id) => requirementsOf(selector, role, id));
}

/** The credentials with claims on the party from the issuers of the requirements, on any synchronizer. */
function findCandidates(
  { view }: ContractSelector,
  party: string,
  requirements: readonly Requirement[],
): readonly Contract<Credential>[] {
  const [only, second] = requirements;
  if (only !== undefined && second === undefined)
    return view.byKey(credential, indexKeys.credential(only.issuer, party));
  const found: Contract<Credential>[] = [];
  for (const [index, { issuer }] of requirements.entries()) {
    if (indexOfIssuer(issuer, requirements) < index) continue;
    for (const one of view.byKey(credential, indexKeys.credential(issuer, party))) found.push(one);
  }
  return found;
}

/** The selection changes when one of the candidates becomes valid or ends. */
function noteValidity(context: RequestContext, candidates: readonly Contract<Credential>[]): void {
  for (const { fields } of candidates) {
    if (fields.validFrom !== undefined) context.mayChangeAt(fields.validFrom);
    if (fields.validUntil !== undefined) context.mayChangeAt(fields.validUntil);
  }
}

/** Returns the given list if nothing is to be filtered out, which is the usual case. */
function filterSynchronizer<F>(contracts: readonly Contract<F>[], synchronizer: string): readonly Contract<F>[] {
  for (const contract of contracts) {
    if (contract.synchronizerId !== synchronizer) return contracts.filter((one) => one.synchronizerId === synchronizer);
  }
  return contracts;
}
