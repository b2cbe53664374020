import type { Contract } from "../../../domain/contract.js";
import type { Claim } from "../../sdk/registry.js";
import { claimsOn, type Credential } from "../templates/parties.js";

interface Candidate {
  readonly credential: Contract<Credential>;
  /** Bit n is set if it makes claim n. */
  readonly claims: bigint;
}

export interface Cover {
  readonly credentials: readonly Contract<Credential>[];
  /** The claims that no credential makes. */
  readonly lacking: readonly Claim[];
}

/** After so many sets the search is greedy, which may take more credentials than necessary. */
const SEARCH_LIMIT = 10_000;

/** The fewest credentials that make all claims on the party that can be made; of equally few the first. */
export function smallestCover(
  credentials: readonly Contract<Credential>[],
  party: string,
  claims: readonly Claim[],
): Cover {
  const candidates = findCandidates(credentials, party, claims);
  const covered = union(candidates);
  const chosen = search(candidates, covered) ?? searchGreedily(candidates, covered);
  return {
    credentials: chosen.map(({ credential }) => credential),
    lacking: claims.filter((_, index) => !(covered & bit(index))),
  };
}

/** Leaves out each credential that adds nothing to a single earlier one. */
function findCandidates(
  credentials: readonly Contract<Credential>[],
  party: string,
  required: readonly Claim[],
): Candidate[] {
  const candidates: Candidate[] = [];
  for (const credential of credentials) {
    const made = claimsOn(credential.fields, party);
    const claims = required.reduce((all, claim, index) => (includesClaim(made, claim) ? all | bit(index) : all), 0n);
    const isRedundant = candidates.some((earlier) => (earlier.claims & claims) === claims);
    if (claims !== 0n && !isRedundant) candidates.push({ credential, claims });
  }
  return candidates;
}

/** Tries sets of growing size, depth first. Undefined if SEARCH_LIMIT is reached. */
function search(candidates: readonly Candidate[], all: bigint): Candidate[] | undefined {
  // The claims that candidates from each index on make.
  const reachable = candidates.map((_, index) => union(candidates.slice(index)));
  let tried = 0;
  const extend = (missing: bigint, size: number, from: number): Candidate[] | undefined => {
    if (missing === 0n) return [];
    if (size === 0) return undefined;
    for (const [index, candidate] of candidates.entries()) {
      if (index < from || (candidate.claims & missing) === 0n) continue;
      if ((missing & ~(reachable[index] ?? 0n)) !== 0n || ++tried > SEARCH_LIMIT) return undefined;
      const rest = extend(missing & ~candidate.claims, size - 1, index + 1);
      if (rest !== undefined) return [candidate, ...rest];
    }
    return undefined;
  };
  const maxSize = countBits(all);
  for (let size = 0; size <= maxSize && tried <= SEARCH_LIMIT; size++) {
    const found = extend(all, size, 0);
    if (found !== undefined) return found;
  }
  return undefined;
}

function searchGreedily(candidates: readonly Candidate[], all: bigint): Candidate[] {
  const chosen: Candidate[] = [];
  let missing = all;
  while (missing !== 0n) {
    const best = candidates.reduce((a, b) => (countBits(b.claims & missing) > countBits(a.claims & missing) ? b : a));
    chosen.push(best);
    missing &= ~best.claims;
  }
  return chosen;
}

/** Whether all of the claims are among those made. */
export function makesAll(made: readonly Claim[], claims: readonly Claim[]): boolean {
  for (const claim of claims) if (!includesClaim(made, claim)) return false;
  return true;
}

export function includesClaim(claims: readonly Claim[], { property, value }: Claim): boolean {
  for (const claim of claims) if (claim.property === property && claim.value === value) return true;
  return false;
}

const bit = (index: number): bigint => 1n << BigInt(index);
const union = (candidates: readonly Candidate[]): bigint => candidates.reduce((all, { claims }) => all | claims, 0n);

function countBits(bits: bigint): number {
  let count = 0;
  for (let rest = bits; rest !== 0n; rest &= rest - 1n) count++;
  return count;
}
