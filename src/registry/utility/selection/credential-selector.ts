import type { Contract } from "../../../domain/contract.js";
import { notFound } from "../../../domain/errors.js";
import type { RequestContext, Requirement } from "../../sdk/registry.js";
import { indexKeys } from "../templates/index-keys.js";
import { claimsOn, type Credential, credential } from "../templates/parties.js";
import { notOnSynchronizer } from "./candidates.js";
import type { ContractSelector } from "./contract-selector.js";
import { chooseCredentials, type CredentialSelection, indexOfIssuer, type LackingClaims } from "./credentials.js";
import { requirementsFor, type Role } from "./requirements.js";
import { includesClaim } from "./smallest-cover.js";

/**
 * The credentials by which a party meets the requirements of instruments. If some are missing, what there is of them;
 * if they are `required`, throws "not-found". Throws "conflict" if the party has the missing ones on another
 * synchronizer, or in reassignment.
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
  if (selection.lacking.length === 0) return selection.chosen;
  const anywhere = here === candidates ? selection : chooseCredentials(party, requirements, candidates, now);
  const elsewhere = findElsewhere(party, selection, anywhere, synchronizer);
  if (elsewhere !== undefined) throw notOnSynchronizer(elsewhere, synchronizer, nameOf(party, selection.lacking));
  if (required) throw notFound(`${nameOf(party, anywhere.lacking)} does not exist`);
  return selection.chosen;
}

/** A chosen credential elsewhere that makes a claim which those on the synchronizer do not make. */
function findElsewhere(
  party: string,
  { lacking }: CredentialSelection,
  anywhere: CredentialSelection,
  synchronizer: string,
): Contract<Credential> | undefined {
  return anywhere.chosen.find(
    ({ synchronizerId, fields }) =>
      synchronizerId !== synchronizer &&
      lacking.some(
        ({ issuer, claims }) =>
          issuer === fields.issuer && claims.some((claim) => includesClaim(claimsOn(fields, party), claim)),
      ),
  );
}

/** What messages call the first missing credential. */
function nameOf(party: string, [first]: readonly LackingClaims[]): string {
  const claims = (first?.claims ?? []).map(({ property, value }) => `${property} = ${value}`).join(", ");
  return `a valid credential for ${party} from issuer ${first?.issuer} with the claim ${claims}`;
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

function requirementsOf(selector: ContractSelector, role: Role, instrument: string): readonly Requirement[] {
  const configuration = selector.configuration(instrument, false);
  return configuration === undefined ? [] : requirementsFor(role, configuration.fields);
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
