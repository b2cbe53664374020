import type { Contract } from "../../../domain/contract.js";
import type { View } from "../../../store/port.js";
import type { Requirement } from "../../sdk/registry.js";
import { chooseCredentials, meets } from "../selection/choose-credentials.js";
import { indexKeys } from "../templates/index-keys.js";
import { type Credential, credential } from "../templates/parties.js";

/** An allow-list may have 10,000 subjects. Examines at most this many subjects of a longer list. */
const MAX_SUBJECTS = 100;

export const subjectsOf = ({ subjects }: Credential): readonly string[] =>
  subjects.slice(0, MAX_SUBJECTS).map(({ subject }) => subject);

/**
 * The parties that no longer meet a requirement from the moment at which a credential ends: no other credential meets it
 * then. The requirements are those on its issuer. `validUntil` is in microseconds since 1970, `now` in milliseconds.
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
    const lackingAt = (time: number) => chooseCredentials(party, requirements, candidates, time).lacking;
    const lackingNow = lackingAt(now);
    // Another credential may end at the same time, for another requirement.
    return lackingAt(end).some((one) => meets(fields, party, one) && !lackingNow.includes(one));
  });
}
