import type { Contract } from "../../../domain/contract.js";
import type { View } from "../../../store/port.js";
import type { Claim, Requirement } from "../../sdk/registry.js";
import { chooseCredentials } from "../selection/credentials.js";
import { includesClaim } from "../selection/smallest-cover.js";
import { indexKeys } from "../templates/index-keys.js";
import { claimsOn, type Credential, credential } from "../templates/parties.js";

/** An allow-list may have 10,000 subjects. Examines at most this many subjects of a longer list. */
const MAX_SUBJECTS = 100;

export const subjectsOf = ({ subjects }: Credential): readonly string[] =>
  subjects.slice(0, MAX_SUBJECTS).map(({ subject }) => subject);

/**
 * The parties that lack claims of a credential from the moment at which it ends, and have them now: no other credential
 * makes them then. The requirements are those on its issuer. `validUntil` is in microseconds since 1970, `now` in milliseconds.
 */
export function findLoss(
  view: View,
  { synchronizerId, fields }: Contract<Credential>,
  validUntil: number,
  requirements: readonly Requirement[],
  now: number,
): readonly string[] {
  const end = Math.ceil(validUntil / 1_000);
  return subjectsOf(fields).filter((party) => {
    const candidates = view
      .byKey(credential, indexKeys.credential(fields.issuer, party))
      .filter((candidate) => candidate.synchronizerId === synchronizerId);
    const lackingAt = (time: number): readonly Claim[] =>
      chooseCredentials(party, requirements, candidates, time).lacking.flatMap(({ claims }) => claims);
    const lackingNow = lackingAt(now);
    const made = claimsOn(fields, party);
    // Another credential may end at the same time, with other claims.
    return lackingAt(end).some((claim) => includesClaim(made, claim) && !includesClaim(lackingNow, claim));
  });
}
