/** The credentials of an answer: looked up, chosen, and recorded for explanations. */
import type { Contract } from "../../domain/contract.js";
import type { View } from "../../store/port.js";
import type { InstrumentConfiguration, Requirement } from "../sdk/registry.js";
import { changeTimes, chooseCredentials, type CredentialSelection, meets, whyInvalid } from "./choose-credentials.js";
import { missing, type Needed, notOnSynchronizer } from "../needed.js";
import type { UtilitySelector } from "./selector.js";
import { claimsOn, type Credential, credential, indexKeys } from "./templates.js";

/** Which of an instrument's requirements apply: those for holding it, or those for minting and burning it. */
export type Role = "holder" | "issuer";

export const requirementsFor = (role: Role, configuration: InstrumentConfiguration): readonly Requirement[] =>
  role === "holder" ? configuration.holderRequirements : configuration.issuerRequirements;

/**
 * The credentials by which a party meets the requirements of instruments. If some are missing, what there is of them;
 * if they are `required`, the answer fails with "not-found". It fails with "conflict" if the party has the missing ones on
 * another synchronizer, or in reassignment.
 */
export function selectCredentials(
  selector: UtilitySelector,
  party: string,
  role: Role,
  instruments: readonly string[],
  required: boolean,
): readonly Contract<Credential>[] {
  const requirements = requirementsOf(selector, role, instruments);
  if (requirements.length === 0) return [];
  const { synchronizer, context, view } = selector;
  const candidates = candidatesFor(view, party, requirements);
  context.mayChangeAt(changeTimes(candidates));
  const isElsewhere = ({ synchronizerId }: Contract) => synchronizerId !== synchronizer;
  const here = candidates.some(isElsewhere) ? candidates.filter((one) => !isElsewhere(one)) : candidates;
  const selection = chooseCredentials(party, requirements, here, context.now);
  if (context.recorder !== undefined) record(selector, party, role, instruments, candidates, selection, required);
  for (const requirement of selection.lacking) {
    const elsewhere = candidates.find(
      (one) =>
        isElsewhere(one) && whyInvalid(one.fields, context.now) === undefined && meets(one.fields, party, requirement),
    );
    if (elsewhere !== undefined && (required || !selector.allowsMissing))
      selector.fail(notOnSynchronizer(elsewhere, synchronizer, neededFor(party, requirement)));
    else if (elsewhere === undefined && required) selector.fail(missing(neededFor(party, requirement)));
  }
  return selection.chosen;
}

/** The requirements of the instruments, each once; none of one whose configuration is not there. */
function requirementsOf(selector: UtilitySelector, role: Role, instruments: readonly string[]): readonly Requirement[] {
  const ofInstrument = (id: string): readonly Requirement[] => {
    const configuration = selector.configuration(id, false);
    return configuration === undefined ? [] : requirementsFor(role, configuration.fields);
  };
  const [only, second] = instruments;
  if (only !== undefined && second === undefined) return ofInstrument(only);
  const distinct = new Map(
    instruments.flatMap(ofInstrument).map((requirement) => [JSON.stringify(requirement), requirement]),
  );
  return [...distinct.values()];
}

/** Credentials are indexed by holder and by subject, so those of large allow-lists are found without a scan. */
function* keysFor(party: string, { issuer, requiredClaims }: Requirement): Generator<string> {
  yield indexKeys.credential(issuer, party);
  // Any credential that the issuer holds meets a requirement without claims.
  if (requiredClaims.length === 0 && issuer !== party) yield indexKeys.credential(issuer, issuer);
}

/** The credentials that may count for the requirements, on any synchronizer, each once. */
function candidatesFor(
  view: View,
  party: string,
  requirements: readonly Requirement[],
): readonly Contract<Credential>[] {
  const [only, second] = requirements;
  if (only !== undefined && second === undefined && only.requiredClaims.length > 0)
    return view.byKey(credential, indexKeys.credential(only.issuer, party));
  const keys = new Set(requirements.flatMap((requirement) => [...keysFor(party, requirement)]));
  return [...new Set([...keys].flatMap((key) => view.byKey(credential, key)))];
}

function neededFor(party: string, { issuer, requiredClaims }: Requirement): Needed {
  const listed = requiredClaims.map(({ property, value }) => `${property} = ${value}`).join(", ");
  const claims = requiredClaims.length === 0 ? "" : ` with the claim ${listed}`;
  return {
    name: `a valid credential for ${party} from issuer ${issuer}${claims}`,
    kind: "credential",
    party,
    issuer,
    claims: requiredClaims,
    template: credential.qualifiedName,
  };
}

/** Tells the recorder which credentials were found for which requirements. */
function record(
  selector: UtilitySelector,
  party: string,
  role: Role,
  instruments: readonly string[],
  candidates: readonly Contract<Credential>[],
  { chosen }: CredentialSelection,
  required: boolean,
): void {
  const { recorder, now } = selector.context;
  const byRequirement = new Map<string, { requirement: Requirement; instruments: string[] }>();
  for (const id of instruments) {
    for (const requirement of requirementsOf(selector, role, [id])) {
      const key = JSON.stringify(requirement);
      const known = byRequirement.get(key);
      if (known === undefined) byRequirement.set(key, { requirement, instruments: [id] });
      else known.instruments.push(id);
    }
  }
  const fieldsOf = new Map<Contract, Credential>(candidates.map((candidate) => [candidate, candidate.fields]));
  recorder?.credentials({
    party,
    requirements: Array.from(byRequirement.values(), ({ requirement, instruments: having }) => ({
      ...requirement,
      instruments: having,
      metBy: chosen.find(({ fields }) => meets(fields, party, requirement)),
      candidates: candidates.filter(({ fields }) => fields.issuer === requirement.issuer),
    })),
    required,
    describe(candidate) {
      const fields = fieldsOf.get(candidate);
      if (fields === undefined) return { claims: [], validUntil: undefined, invalid: undefined };
      return { claims: claimsOn(fields, party), validUntil: fields.validUntil, invalid: whyInvalid(fields, now) };
    },
  });
}
