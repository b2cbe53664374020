/** Requirements that parties do not meet, or soon will not: nobody does, only several credentials do, or one ends. */
import type { CauseCode } from "../../domain/causes.js";
import type { Contract } from "../../domain/contract.js";
import type { View } from "../../state/port.js";
import type { InstrumentConfiguration, Requirement } from "../sdk/registry.js";
import { type Check, type CheckContext, type Warning, warningOf } from "../sdk/warnings.js";
import { chooseCredentials, includesClaim, meets, requirementsFor, type Role, whyInvalid } from "./credentials.js";
import { newestBy } from "./instruments.js";
import { claimsOn, type Credential, credential, indexKeys, instrumentConfiguration } from "./templates.js";
import { isUsual, type UtilityContexts } from "./contexts.js";

const DAY_MS = 86_400_000;
const MICROS_PER_MS = 1_000;
/** An allow-list may have 10,000 subjects. Looks up other credentials for at most this many subjects of a longer list. */
const MAX_SUBJECTS = 100;

/** An instrument that has a requirement. */
interface Use {
  readonly configuration: InstrumentConfiguration;
  readonly role: Role;
}

/** All that have a requirement. */
type Uses = readonly [Use, ...Use[]];

/** Many instruments have the same requirement. */
interface SharedRequirement {
  /** Equal for equal requirements. */
  readonly name: string;
  readonly requirement: Requirement;
  readonly uses: Uses;
}

/** Warns of credentials that end soon, of claims spread over several, and of requirements that none meets. */
export const checkCredentials = (contexts: UtilityContexts): Check<Credential, ReadonlySet<string>> => ({
  template: credential,
  warnings(context, credentials) {
    const requirements = allRequirements(context.view);
    return credentials.flatMap((one) => {
      const ofIssuer = requirements.get(one.fields.issuer) ?? [];
      const split = partialClaims(one.fields, ofIssuer).flatMap(({ party, shared }) =>
        checkSplit(context, contexts, one, party, shared),
      );
      return checkEnd(context, contexts, one, ofIssuer).concat(split);
    });
  },
  overall: {
    /** The names of the requirements that one of the credentials meets. */
    observe({ view, now }, credentials) {
      const requirements = allRequirements(view);
      return new Set(
        credentials
          .filter(({ fields }) => whyInvalid(fields, now) === undefined)
          .flatMap(({ fields }) =>
            (requirements.get(fields.issuer) ?? [])
              .filter(({ requirement }) => isMetForAnyone(fields, requirement))
              .map(({ name }) => name),
          ),
      );
    },
    conclude({ view }, observed) {
      const met = new Set(observed.flatMap((names) => [...names]));
      return [...allRequirements(view).values()]
        .flat()
        .filter(({ name }) => !met.has(name))
        .flatMap((shared) => unmet(contexts, shared));
    },
  },
});

/** The requirements of the newest configuration of each instrument in each group, by their issuers. */
function allRequirements(view: View): ReadonlyMap<string, readonly SharedRequirement[]> {
  const newest = newestBy(view.all(instrumentConfiguration), ({ operator, provider, registrar, defaultIdentifier }) =>
    JSON.stringify([operator, provider, registrar, defaultIdentifier.id]),
  );
  const byName = new Map<string, SharedRequirement & { readonly uses: [Use, ...Use[]] }>();
  for (const { fields: configuration } of newest.values())
    for (const role of ["holder", "issuer"] as const)
      for (const requirement of requirementsFor(role, configuration)) {
        const name = JSON.stringify(requirement);
        const known = byName.get(name);
        if (known === undefined) byName.set(name, { name, requirement, uses: [{ configuration, role }] });
        else known.uses.push({ configuration, role });
      }
  const byIssuer = new Map<string, SharedRequirement[]>();
  for (const shared of byName.values()) {
    const ofIssuer = byIssuer.get(shared.requirement.issuer) ?? [];
    ofIssuer.push(shared);
    byIssuer.set(shared.requirement.issuer, ofIssuer);
  }
  return byIssuer;
}

/** A warning for the operations that need the credentials: those that refuse a request without them, and the others. */
function warningsFor(
  { factories, choices }: UtilityContexts,
  uses: Uses,
  cause: Pick<Warning, "contractId" | "party"> & { readonly code: CauseCode; readonly message: string },
): readonly Warning[] {
  const { registrar, defaultIdentifier } = uses[0].configuration;
  const roles = new Set(uses.map(({ role }) => role));
  const needing = [...Object.values(factories), ...Object.values(choices).filter(isUsual)].filter((one) =>
    one.roles.some((role) => roles.has(role)),
  );
  return [undefined, "not-found" as const].flatMap((refusal) => {
    const failing = needing.filter((one) => one.requiresCredentials === (refusal !== undefined));
    const operations = failing.map(({ operation }) => operation);
    return operations.length === 0
      ? []
      : warningOf({ registrar, instrument: defaultIdentifier.id, ...cause }, { operations, refusal });
  });
}

/** `the holder of instrument "USD" of registrar R and of 2 more`. */
function describeUses([{ configuration, role }, ...others]: Uses): string {
  const { registrar, defaultIdentifier } = configuration;
  const more = others.length === 0 ? "" : ` and of ${others.length} more`;
  return `the ${role} of instrument "${defaultIdentifier.id}" of registrar ${registrar}${more}`;
}

const describeClaims = ({ requiredClaims }: Requirement): string =>
  requiredClaims.map(({ property, value }) => `${property} = ${value}`).join(", ");

const isMetForAnyone = ({ subjects }: Credential, { requiredClaims }: Requirement): boolean =>
  requiredClaims.length === 0 ||
  subjects.some(({ claims }) => requiredClaims.every((claim) => includesClaim(claims, claim)));

function unmet(contexts: UtilityContexts, { requirement, uses }: SharedRequirement): readonly Warning[] {
  const { issuer, requiredClaims } = requirement;
  const lacking =
    requiredClaims.length === 0 ? "exists" : `makes the claims ${describeClaims(requirement)} for any party`;
  const message = `no valid credential of issuer ${issuer} ${lacking}, as required of ${describeUses(uses)}`;
  return warningsFor(contexts, uses, { code: "requirement-unmet", message });
}

/** The parties of whom it makes some, but not all, of the claims that a requirement asks for. */
function partialClaims(
  { subjects }: Credential,
  requirements: readonly SharedRequirement[],
): { readonly party: string; readonly shared: SharedRequirement }[] {
  const several = requirements.filter(({ requirement }) => requirement.requiredClaims.length > 1);
  if (several.length === 0) return [];
  return subjects.slice(0, MAX_SUBJECTS).flatMap(({ subject: party, claims }) =>
    several.flatMap((shared) => {
      const { requiredClaims } = shared.requirement;
      const made = requiredClaims.filter((claim) => includesClaim(claims, claim)).length;
      return made > 0 && made < requiredClaims.length ? [{ party, shared }] : [];
    }),
  );
}

/** Whether only several credentials together make the claims on the party. The newest of them warns. */
function checkSplit(
  { view, now }: CheckContext,
  contexts: UtilityContexts,
  { contractId }: Contract<Credential>,
  party: string,
  { requirement, uses }: SharedRequirement,
): readonly Warning[] {
  const { issuer, requiredClaims } = requirement;
  const valid = view
    .byKey(credential, indexKeys.credential(issuer, party))
    .filter(({ fields }) => whyInvalid(fields, now) === undefined);
  if (valid.some(({ fields }) => meets(fields, party, requirement))) return [];
  const making = valid.filter(({ fields }) =>
    requiredClaims.some((claim) => includesClaim(claimsOn(fields, party), claim)),
  );
  if (making[0]?.contractId !== contractId) return [];
  const isMade = requiredClaims.every((claim) =>
    making.some(({ fields }) => includesClaim(claimsOn(fields, party), claim)),
  );
  if (!isMade) return [];
  const message =
    `${making.length} credentials of issuer ${issuer} together make the claims ${describeClaims(requirement)} on ${party}, ` +
    `but the requirement on ${describeUses(uses)} asks for one credential that makes all`;
  return warningsFor(contexts, uses, { code: "credentials-split", contractId, party, message });
}

/** Requirements that parties no longer meet when the credential has ended. */
function checkEnd(
  context: CheckContext,
  contexts: UtilityContexts,
  ending: Contract<Credential>,
  ofIssuer: readonly SharedRequirement[],
): readonly Warning[] {
  const { contractId, fields, synchronizerId } = ending;
  const { validUntil } = fields;
  if (validUntil === undefined || synchronizerId === undefined) return [];
  const msLeft = validUntil / MICROS_PER_MS - context.now;
  if (msLeft <= 0 || msLeft > context.credentialDays * DAY_MS) return [];
  const losses = ofIssuer
    .map(({ requirement, uses }) => ({ uses, parties: findLoss(context, ending, validUntil, requirement) }))
    .filter(({ parties }) => parties.length > 0);
  const [first] = losses;
  if (first === undefined) return [];
  const { parties } = first;
  const uses: Uses = [...first.uses, ...losses.slice(1).flatMap((other) => other.uses)];
  const endMs = validUntil / MICROS_PER_MS;
  const days = Math.max(1, Math.ceil(msLeft / DAY_MS));
  const end = `${new Date(endMs).toISOString()}, in ${days} ${days === 1 ? "day" : "days"}`;
  const message =
    `credential ${contractId} of issuer ${fields.issuer} ends at ${end}. From then on ${countParties(parties)} ` +
    `the requirements on ${describeUses(uses)}`;
  const cause = { code: "credential-expires", contractId, party: parties[0], message } as const;
  const found = warningsFor(contexts, uses, cause);
  const [one] = found;
  // Nothing is refused yet.
  return one === undefined
    ? []
    : [{ ...one, operations: found.flatMap(({ operations }) => operations), refusal: undefined }];
}

/** The parties that no longer meet the requirement from that end on: no other credential meets it then. */
function findLoss(
  { view, now }: CheckContext,
  { synchronizerId, fields }: Contract<Credential>,
  validUntil: number,
  requirement: Requirement,
): readonly string[] {
  const end = Math.ceil(validUntil / MICROS_PER_MS);
  const subjects = fields.subjects.slice(0, MAX_SUBJECTS).map(({ subject }) => subject);
  return subjects.filter((party) => {
    if (!meets(fields, party, requirement)) return false;
    const candidates = view
      .byKey(credential, indexKeys.credential(fields.issuer, party))
      .filter((candidate) => candidate.synchronizerId === synchronizerId);
    const isLackingAt = (time: number) => chooseCredentials(party, [requirement], candidates, time).lacking.length > 0;
    // Another credential may end at the same time, for another requirement.
    return isLackingAt(end) && !isLackingAt(now);
  });
}

const countParties = ([first, ...others]: readonly string[]): string =>
  others.length === 0 ? `${first} does not meet` : `${first} and ${others.length} more do not meet`;
