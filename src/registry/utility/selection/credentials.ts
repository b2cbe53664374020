import type { Contract } from "../../../domain/contract.js";
import type { Claim, Requirement } from "../../sdk/registry.js";
import type { Credential } from "../templates/parties.js";

/** The credentials that meet a party's requirements, or the claims that none of them makes. */
export type CredentialSelection =
  | { readonly met: true; readonly chosen: readonly Contract<Credential>[] }
  | { readonly met: false; readonly issuer: string; readonly lacking: readonly Claim[] };

const NOTHING_ASKED: CredentialSelection = { met: true, chosen: [] };

/** How many sets of credentials are looked at before a good set is taken for the best. */
const SEARCH_LIMIT = 10_000;

/**
 * Chooses as few credentials as possible by which `party` meets all
 * requirements at the time `now`, in milliseconds since 1970; of equally few
 * those valid longest. `candidates` are in a fixed order, which decides what is
 * left open, so that every replica chooses alike, in whatever order the
 * requirements and their claims stand.
 *
 * Requirements on one issuer are met together: their claims may come from the
 * same credential.
 */
export function chooseCredentials(
  party: string,
  requirements: readonly Requirement[],
  candidates: readonly Contract<Credential>[],
  now: number,
): CredentialSelection {
  const each = oneForEach(party, requirements, candidates, now);
  if (each !== undefined) return { met: true, chosen: each };
  const claimsAsked = claimsByIssuer(requirements);
  if (claimsAsked.size === 0) return NOTHING_ASKED;
  const usable = candidates.filter(({ fields }) => fields.holder === party && isValid(fields, now));
  if (usable.length > 1)
    usable.sort((a, b) => (b.fields.validUntil ?? Infinity) - (a.fields.validUntil ?? Infinity) || 0);
  const chosen: Contract<Credential>[] = [];
  for (const [issuer, claims] of inOrder(claimsAsked)) {
    // Most often one credential makes all claims, and of these the first is the best.
    const single = usable.find(({ fields }) => fields.issuer === issuer && makesAll(fields, claims));
    if (single !== undefined) {
      if (claims.length > 0) chosen.push(single);
      continue;
    }
    const offers = offersOf(
      usable.filter(({ fields }) => fields.issuer === issuer),
      claims,
    );
    const offered = offers.reduce((all, { covers }) => all | covers, 0n);
    const lacking = claims.filter((_, index) => !(offered & bit(index)));
    if (lacking.length > 0) return { met: false, issuer, lacking };
    chosen.push(...fewest(offers, claims.length).map(({ credential }) => credential));
  }
  return { met: true, chosen };
}

/**
 * Most often there is one credential for each requirement, each of another
 * issuer: then there is nothing to choose, and mostly no list to be made. Undefined
 * where it is not so.
 */
function oneForEach(
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
  return ofEachIssuer(candidates);
}

/** Where the first requirement on an issuer stands; -1 where there is none. */
export function indexOfIssuer(issuer: string, requirements: readonly Requirement[]): number {
  for (let at = 0; at < requirements.length; at++) if (requirements[at]?.issuer === issuer) return at;
  return -1;
}

/** In the order of their issuers; undefined where two are of one. */
function ofEachIssuer(candidates: readonly Contract<Credential>[]): readonly Contract<Credential>[] | undefined {
  let before = candidates[0];
  for (let at = 1; at < candidates.length; at++) {
    const candidate = candidates[at];
    if (before === undefined || candidate === undefined) return undefined;
    if (before.fields.issuer > candidate.fields.issuer) return ofEachIssuer(candidates.toSorted(inIssuerOrder));
    if (before.fields.issuer === candidate.fields.issuer) return undefined;
    before = candidate;
  }
  return candidates;
}

const inIssuerOrder = ({ fields: a }: Contract<Credential>, { fields: b }: Contract<Credential>): number =>
  a.issuer < b.issuer ? -1 : a.issuer > b.issuer ? 1 : 0;

function meets(credential: Credential, party: string, { issuer, requiredClaims }: Requirement, now: number): boolean {
  const isIts = credential.holder === party && credential.issuer === issuer;
  return isIts && requiredClaims.length > 0 && isValid(credential, now) && makesAll(credential, requiredClaims);
}

/** A credential and the needed claims that it makes, a bit for each. */
interface Offer {
  readonly credential: Contract<Credential>;
  readonly covers: bigint;
}

const bit = (index: number): bigint => 1n << BigInt(index);

function isValid({ validFrom, validUntil }: Credential, now: number): boolean {
  const present = now * 1000;
  return (validFrom === undefined || validFrom <= present) && (validUntil === undefined || present < validUntil);
}

function claimsByIssuer(requirements: readonly Requirement[]): Map<string, Claim[]> {
  const byIssuer = new Map<string, Claim[]>();
  for (const { issuer, requiredClaims } of requirements) {
    const claims = byIssuer.get(issuer) ?? [];
    byIssuer.set(issuer, claims);
    for (const claim of requiredClaims) {
      if (!has(claims, claim)) claims.push(claim);
    }
  }
  return byIssuer;
}

/** By issuer: the order in which requirements stand decides nothing. */
function inOrder(claims: Map<string, Claim[]>): Iterable<[string, Claim[]]> {
  return claims.size === 1 ? claims : [...claims].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function makesAll({ claims: made }: Credential, claims: readonly Claim[]): boolean {
  for (const claim of claims) if (!has(made, claim)) return false;
  return true;
}

/** Whether a claim is among some. */
function has(made: readonly Claim[], claim: Claim): boolean {
  for (const one of made) if (isSame(one, claim)) return true;
  return false;
}

const isSame = (a: Claim, b: Claim): boolean => a.property === b.property && a.value === b.value;

/** What each credential can give, without those that give nothing beyond an earlier one. */
function offersOf(credentials: readonly Contract<Credential>[], claims: readonly Claim[]): Offer[] {
  const offers: Offer[] = [];
  for (const credential of credentials) {
    const made = credential.fields.claims;
    const covers = claims.reduce((all, claim, index) => (has(made, claim) ? all | bit(index) : all), 0n);
    const adds = !offers.some((earlier) => (earlier.covers & covers) === covers);
    if (covers !== 0n && adds) offers.push({ credential, covers });
  }
  return offers;
}

/**
 * The smallest set of offers that covers all claims; of equally small ones the
 * first in the order of the offers. Past SEARCH_LIMIT sets, which no sane
 * instrument reaches, the widest offer is taken again and again.
 */
function fewest(offers: readonly Offer[], claims: number): readonly Offer[] {
  // What can still be covered from each offer on.
  const within = offers.map((_, index) => offers.slice(index).reduce((all, { covers }) => all | covers, 0n));
  let looked = 0;
  const search = (missing: bigint, size: number, from: number): Offer[] | undefined => {
    if (missing === 0n) return [];
    if (size === 0) return undefined;
    for (const [index, offer] of offers.entries()) {
      if (index < from || (offer.covers & missing) === 0n) continue;
      if ((missing & ~(within[index] ?? 0n)) !== 0n || ++looked > SEARCH_LIMIT) return undefined;
      const rest = search(missing & ~offer.covers, size - 1, index + 1);
      if (rest !== undefined) return [offer, ...rest];
    }
    return undefined;
  };
  const all = bit(claims) - 1n;
  for (let size = 0; size <= claims && looked <= SEARCH_LIMIT; size++) {
    const found = search(all, size, 0);
    if (found !== undefined) return found;
  }
  return widest(offers, all);
}

function widest(offers: readonly Offer[], all: bigint): Offer[] {
  const chosen: Offer[] = [];
  let missing = all;
  while (missing !== 0n) {
    const best = offers.reduce((a, b) => (count(b.covers & missing) > count(a.covers & missing) ? b : a));
    chosen.push(best);
    missing &= ~best.covers;
  }
  return chosen;
}

function count(bits: bigint): number {
  let rest = bits;
  let ones = 0;
  for (; rest !== 0n; rest &= rest - 1n) ones++;
  return ones;
}
