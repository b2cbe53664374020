import type { Contract } from "../../../domain/contract.js";
import type { Claim } from "../../sdk/registry.js";
import type { Credential } from "../templates/parties.js";

interface Candidate {
  readonly credential: Contract<Credential>;
  /** Bit n is set if it makes claim n. */
  readonly claims: bigint;
}

export type Cover =
  | { readonly complete: true; readonly credentials: readonly Contract<Credential>[] }
  | { readonly complete: false; readonly lacking: readonly Claim[] };

/** After so many sets the search is greedy, which may take more credentials than necessary. */
const SEARCH_LIMIT = 10_000;

/** The fewest credentials that make all claims, of equally few the first; else the claims that no credential makes. */
export function smallestCover(credentials: readonly Contract<Credential>[], claims: readonly Claim[]): Cover {
  const candidates = findCandidates(credentials, claims);
  const covered = union(candidates);
  const lacking = claims.filter((_, index) => !(covered & bit(index)));
  if (lacking.length > 0) return { complete: false, lacking };
  const chosen = search(candidates, claims.length) ?? searchGreedily(candidates, allBits(claims.length));
  return { complete: true, credentials: chosen.map(({ credential }) => credential) };
}

/** Leaves out each credential that adds nothing to a single earlier one. */
function findCandidates(credentials: readonly Contract<Credential>[], required: readonly Claim[]): Candidate[] {
  const candidates: Candidate[] = [];
  for (const credential of credentials) {
    const made = credential.fields.claims;
    const claims = required.reduce((all, claim, index) => (includesClaim(made, claim) ? all | bit(index) : all), 0n);
    const isRedundant = candidates.some((earlier) => (earlier.claims & claims) === claims);
    if (claims !== 0n && !isRedundant) candidates.push({ credential, claims });
  }
  return candidates;
}

/** Tries sets of growing size, depth first. Undefined if SEARCH_LIMIT is reached. */
function search(candidates: readonly Candidate[], claimCount: number): Candidate[] | undefined {
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
  for (let size = 0; size <= claimCount && tried <= SEARCH_LIMIT; size++) {
    const found = extend(allBits(claimCount), size, 0);
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

/** Whether the credential makes all of the claims. */
export function makesAll({ claims: made }: Credential, claims: readonly Claim[]): boolean {
  for (const claim of claims) if (!includesClaim(made, claim)) return false;
  return true;
}

export function includesClaim(claims: readonly Claim[], { property, value }: Claim): boolean {
  for (const claim of claims) if (claim.property === property && claim.value === value) return true;
  return false;
}

const bit = (index: number): bigint => 1n << BigInt(index);
const allBits = (count: number): bigint => bit(count) - 1n;
const union = (candidates: readonly Candidate[]): bigint => candidates.reduce((all, { claims }) => all | claims, 0n);

function countBits(bits: bigint): number {
  let count = 0;
  for (let rest = bits; rest !== 0n; rest &= rest - 1n) count++;
  return count;
}
