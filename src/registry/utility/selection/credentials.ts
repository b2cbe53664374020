import type { Contract } from "../../../domain/contract.js";
import type { Claim, Requirement } from "../../sdk/registry.js";
import type { Credential } from "../templates/parties.js";
import { includesClaim, makesAll, smallestCover } from "./smallest-cover.js";

/** The credentials that meet a party's requirements, or the claims of one issuer that none of them makes. */
export type CredentialSelection =
  | { readonly met: true; readonly chosen: readonly Contract<Credential>[] }
  | { readonly met: false; readonly issuer: string; readonly lacking: readonly Claim[] };

const NOTHING_REQUIRED: CredentialSelection = { met: true, chosen: [] };

/**
 * Chooses the fewest credentials by which `party` meets all requirements at `now` (milliseconds since 1970); of equally
 * few those valid longest, then the first. Every replica chooses alike, whatever the order of requirements and claims.
 * Requirements on one issuer are met together: one credential may serve several.
 */
export function chooseCredentials(
  party: string,
  requirements: readonly Requirement[],
  candidates: readonly Contract<Credential>[],
  now: number,
): CredentialSelection {
  const onePerIssuer = matchOnePerIssuer(party, requirements, candidates, now);
  if (onePerIssuer !== undefined) return { met: true, chosen: onePerIssuer };
  const claimsByIssuer = groupClaims(requirements);
  if (claimsByIssuer.size === 0) return NOTHING_REQUIRED;
  const valid = candidates.filter(({ fields }) => fields.holder === party && isValid(fields, now));
  // The sort is stable. Infinity - Infinity is NaN, which counts as equal.
  if (valid.length > 1)
    valid.sort((a, b) => (b.fields.validUntil ?? Infinity) - (a.fields.validUntil ?? Infinity) || 0);
  const chosen: Contract<Credential>[] = [];
  for (const [issuer, claims] of sortByIssuer(claimsByIssuer)) {
    if (claims.length === 0) continue;
    const issued = valid.filter(({ fields }) => fields.issuer === issuer);
    const single = issued.find(({ fields }) => makesAll(fields, claims));
    if (single !== undefined) {
      chosen.push(single);
      continue;
    }
    const cover = smallestCover(issued, claims);
    if (!cover.complete) return { met: false, issuer, lacking: cover.lacking };
    chosen.push(...cover.credentials);
  }
  return { met: true, chosen };
}

/** Fast path for exactly one credential per requirement, each from another issuer. Undefined for any other case. */
function matchOnePerIssuer(
  party: string,
  requirements: readonly Requirement[],
  candidates: readonly Contract<Credential>[],
  now: number,
): readonly Contract<Credential>[] | undefined {
  if (requirements.length !== candidates.length) return undefined;
  for (const { fields } of candidates) {
    const requirement = requirements[indexOfIssuer(fields.issuer, requirements)];
    if (requirement === undefined || !meets(fields, party, requirement, now)) return undefined;
  }
  return sortDistinctIssuers(candidates);
}

/** Index of the first requirement on an issuer; -1 if there is none. */
export function indexOfIssuer(issuer: string, requirements: readonly Requirement[]): number {
  for (let index = 0; index < requirements.length; index++) if (requirements[index]?.issuer === issuer) return index;
  return -1;
}

/** The credentials by ascending issuer; undefined if two have the same issuer. A sorted list is returned as it is. */
function sortDistinctIssuers(
  credentials: readonly Contract<Credential>[],
): readonly Contract<Credential>[] | undefined {
  let previous = credentials[0];
  for (let index = 1; index < credentials.length; index++) {
    const current = credentials[index];
    if (previous === undefined || current === undefined) return undefined;
    if (previous.fields.issuer > current.fields.issuer)
      return sortDistinctIssuers(credentials.toSorted(compareIssuers));
    if (previous.fields.issuer === current.fields.issuer) return undefined;
    previous = current;
  }
  return credentials;
}

const compareIssuers = ({ fields: a }: Contract<Credential>, { fields: b }: Contract<Credential>): number =>
  a.issuer < b.issuer ? -1 : a.issuer > b.issuer ? 1 : 0;

function meets(credential: Credential, party: string, { issuer, requiredClaims }: Requirement, now: number): boolean {
  const isRelevant = credential.holder === party && credential.issuer === issuer;
  return isRelevant && requiredClaims.length > 0 && isValid(credential, now) && makesAll(credential, requiredClaims);
}

function isValid({ validFrom, validUntil }: Credential, now: number): boolean {
  const nowMicros = now * 1000;
  return (validFrom === undefined || validFrom <= nowMicros) && (validUntil === undefined || nowMicros < validUntil);
}

function groupClaims(requirements: readonly Requirement[]): Map<string, Claim[]> {
  const byIssuer = new Map<string, Claim[]>();
  for (const { issuer, requiredClaims } of requirements) {
    const claims = byIssuer.get(issuer) ?? [];
    byIssuer.set(issuer, claims);
    for (const claim of requiredClaims) if (!includesClaim(claims, claim)) claims.push(claim);
  }
  return byIssuer;
}

function sortByIssuer(claims: Map<string, Claim[]>): Iterable<[string, Claim[]]> {
  return claims.size === 1 ? claims : [...claims].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
