import type { Contract } from "../../../domain/contract.js";
import type { Claim, Requirement } from "../../sdk/registry.js";
import { claimsOn, type Credential } from "../templates/parties.js";
import { includesClaim, makesAll, smallestCover } from "./smallest-cover.js";

/** The credentials for a party's requirements. */
export interface CredentialSelection {
  readonly chosen: readonly Contract<Credential>[];
  /** The required claims that no candidate makes, by issuer; empty if the requirements are met. */
  readonly lacking: readonly LackingClaims[];
}

export interface LackingClaims {
  readonly issuer: string;
  /** At least one. */
  readonly claims: readonly Claim[];
}

const NOTHING_LACKING: readonly LackingClaims[] = [];

/**
 * Chooses the fewest credentials that make all required claims on `party` that any candidate makes at `now`
 * (milliseconds since 1970). Of equally few, those that the party holds come first, then those valid longest. Every
 * replica chooses alike, whatever the order of requirements and claims. Requirements on one issuer are met together: one
 * credential may serve several. The candidates are those of the issuers that have claims on the party.
 */
export function chooseCredentials(
  party: string,
  requirements: readonly Requirement[],
  candidates: readonly Contract<Credential>[],
  now: number,
): CredentialSelection {
  const onePerIssuer = matchOnePerIssuer(party, requirements, candidates, now);
  if (onePerIssuer !== undefined) return { chosen: onePerIssuer, lacking: NOTHING_LACKING };
  const valid = candidates.filter(({ fields }) => isValid(fields, now));
  if (valid.length > 1) valid.sort((a, b) => comparePreference(party, a.fields, b.fields));
  const chosen: Contract<Credential>[] = [];
  const lacking: LackingClaims[] = [];
  for (const [issuer, claims] of sortByIssuer(groupClaims(requirements))) {
    if (claims.length === 0) continue;
    const issued = valid.filter(({ fields }) => fields.issuer === issuer);
    const single = issued.find(({ fields }) => makesAll(claimsOn(fields, party), claims));
    if (single !== undefined) {
      chosen.push(single);
      continue;
    }
    const cover = smallestCover(issued, party, claims);
    chosen.push(...cover.credentials);
    if (cover.lacking.length > 0) lacking.push({ issuer, claims: cover.lacking });
  }
  return { chosen, lacking };
}

/** Negative if `a` is preferred. The sort is stable: of equals the first candidate stays first. */
function comparePreference(party: string, a: Credential, b: Credential): number {
  const byHolder = Number(b.holder === party) - Number(a.holder === party);
  // Infinity - Infinity is NaN, which counts as equal.
  return byHolder || (b.validUntil ?? Infinity) - (a.validUntil ?? Infinity) || 0;
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

function meets(credential: Credential, party: string, { requiredClaims }: Requirement, now: number): boolean {
  return requiredClaims.length > 0 && isValid(credential, now) && makesAll(claimsOn(credential, party), requiredClaims);
}

const isValid = (fields: Credential, now: number): boolean => whyInvalid(fields, now) === undefined;

/** Why a credential does not count at a time, as a predicate. Undefined if it counts. */
export function whyInvalid({ validFrom, validUntil }: Credential, now: number): string | undefined {
  const nowMicros = now * 1000;
  if (validFrom !== undefined && validFrom > nowMicros) return "is not valid yet";
  return validUntil !== undefined && validUntil <= nowMicros ? "has ended" : undefined;
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
