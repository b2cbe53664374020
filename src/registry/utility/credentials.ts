/** The credentials of an answer: see "Credentials" of the rules. Which meet a party's requirements, and how they are found. */
import type { Contract } from "../../domain/contract.js";
import type { View } from "../../state/port.js";
import type { ContractSelector } from "../engine/selector.js";
import { missing, type Needed, notOnSynchronizer } from "../needed.js";
import type { Claim, InstrumentConfiguration, Requirement } from "../sdk/registry.js";
import { configurationOf } from "./factory.js";
import { claimsOn, type Credential, credential, indexKeys } from "./templates.js";

export interface CredentialSelection {
  readonly chosen: readonly Contract<Credential>[];
  /** The requirements that no valid credential meets. */
  readonly lacking: readonly Requirement[];
}

const HOUR_MICROS = 3_600_000_000;
/**
 * How far ahead the ends of a set should be, in microseconds: CIP-0056 wants a day between preparing and submitting, for
 * external signing. A set whose ends are all beyond an earlier margin is preferred.
 */
const MARGINS_MICROS = [24 * HOUR_MICROS, 60_000_000, 0] as const;

/** Up to so many requirements of one issuer the choice is exact; beyond, each step takes the best credential. */
const MAX_EXACT = 8;

/**
 * Chooses the credentials by which `party` meets the requirements at `now` (milliseconds since 1970). One credential has to
 * meet a requirement by itself, and may meet several. Every credential of the list must be valid on the ledger, also one
 * that nothing needs, so none is chosen without need. Of the sets that meet most requirements, the order of preference is:
 * all ends beyond a day, then beyond a minute; fewest credentials; those held by the party; latest end; contract id. Every
 * replica chooses alike, whatever the order of requirements and candidates.
 */
export function chooseCredentials(
  party: string,
  requirements: readonly Requirement[],
  candidates: readonly Contract<Credential>[],
  now: number,
): CredentialSelection {
  if (requirements.length === 0) return { chosen: [], lacking: [] };
  const valid = candidates.filter(({ fields }) => whyInvalid(fields, now) === undefined);
  const isMetBy = (credentials: readonly Contract<Credential>[], requirement: Requirement) =>
    credentials.some(({ fields }) => meets(fields, party, requirement));
  const lacking = requirements.filter((requirement) => !isMetBy(valid, requirement));
  const met =
    lacking.length === 0 ? requirements : requirements.filter((requirement) => !lacking.includes(requirement));
  const lasting =
    valid.length > 1 ? longestLasting(valid, now, (some) => met.every((one) => isMetBy(some, one))) : valid;
  const [only] = lasting;
  if (only === undefined || met.length === 0) return { chosen: [], lacking };
  if (lasting.length === 1) return { chosen: [only], lacking };
  lasting.sort((a, b) => comparePreference(party, a, b));
  const issuers = [...new Set(met.map(({ issuer }) => issuer))].toSorted();
  const chosen = issuers.flatMap((issuer) => {
    const ofIssuer = met.filter((requirement) => requirement.issuer === issuer);
    return ofIssuer.length <= MAX_EXACT ? smallestSet(party, ofIssuer, lasting) : greedySet(party, ofIssuer, lasting);
  });
  return { chosen, lacking };
}

/** The credentials whose ends are beyond the earliest margin with which they suffice. The last margin all have. */
function longestLasting(
  valid: Contract<Credential>[],
  now: number,
  suffice: (some: readonly Contract<Credential>[]) => boolean,
): Contract<Credential>[] {
  for (const margin of MARGINS_MICROS) {
    const end = now * 1000 + margin;
    const lasting = valid.filter(({ fields: { validUntil } }) => validUntil === undefined || validUntil >= end);
    if (suffice(lasting)) return lasting;
  }
  return valid;
}

/** Whether the credential meets the requirement by itself. One that a third party holds meets none. */
export function meets(fields: Credential, party: string, { issuer, requiredClaims }: Requirement): boolean {
  if (fields.issuer !== issuer || (fields.holder !== party && fields.holder !== issuer)) return false;
  const made = requiredClaims.length === 0 ? [] : claimsOn(fields, party);
  return requiredClaims.every((claim) => includesClaim(made, claim));
}

export const includesClaim = (claims: readonly Claim[], { property, value }: Claim): boolean =>
  claims.some((claim) => claim.property === property && claim.value === value);

/** Why a credential does not count at a time, as a predicate. Undefined if it counts. */
export function whyInvalid({ validFrom, validUntil }: Credential, now: number): string | undefined {
  const nowMicros = now * 1000;
  if (validFrom !== undefined && validFrom > nowMicros) return "is not valid yet";
  return validUntil !== undefined && validUntil <= nowMicros ? "has ended" : undefined;
}

/** The times, in microseconds since 1970, at which the choice among these candidates may change. */
export function* changeTimes(candidates: readonly Contract<Credential>[]): Generator<number> {
  for (const { fields } of candidates) {
    if (fields.validFrom !== undefined) yield fields.validFrom;
    if (fields.validUntil === undefined) continue;
    yield fields.validUntil;
    // An end exactly a margin ahead is beyond it, for the last time.
    if (candidates.length > 1)
      for (const margin of MARGINS_MICROS) if (margin > 0) yield fields.validUntil - margin + 1;
  }
}

/** Negative if `a` is preferred to `b`, where either would do. */
function comparePreference(party: string, a: Contract<Credential>, b: Contract<Credential>): number {
  const byHolder = Number(b.fields.holder === party) - Number(a.fields.holder === party);
  const [endA, endB] = [endOf(a), endOf(b)];
  return byHolder || (endA === endB ? 0 : endB - endA) || (a.contractId < b.contractId ? -1 : 1);
}

const endOf = ({ fields }: Contract<Credential>): number => fields.validUntil ?? Infinity;

/** The requirements that a credential meets, as bits by their index. */
const bitsOf = (party: string, requirements: readonly Requirement[], { fields }: Contract<Credential>): number =>
  requirements.reduce(
    (bits, requirement, index) => (meets(fields, party, requirement) ? bits | (1 << index) : bits),
    0,
  );

interface CredentialSet {
  readonly credentials: readonly Contract<Credential>[];
  readonly heldByIssuer: number;
  readonly earliestEnd: number;
}

/** The preferred set that meets all requirements of one issuer. Candidates come in order of preference. */
function smallestSet(
  party: string,
  requirements: readonly Requirement[],
  candidates: readonly Contract<Credential>[],
): readonly Contract<Credential>[] {
  const [only, second] = requirements;
  if (only !== undefined && second === undefined)
    return candidates.filter(({ fields }) => meets(fields, party, only)).slice(0, 1);
  // Of the credentials that meet the same requirements the first is the best in every set.
  const byBits = new Map<number, Contract<Credential>>();
  for (const candidate of candidates) {
    const bits = bitsOf(party, requirements, candidate);
    if (bits !== 0 && !byBits.has(bits)) byBits.set(bits, candidate);
  }
  const all = (1 << requirements.length) - 1;
  // best[bits] meets these requirements. A larger set of requirements has larger bits, so one pass is enough.
  const best: (CredentialSet | undefined)[] = [{ credentials: [], heldByIssuer: 0, earliestEnd: Infinity }];
  for (let met = 0; met < all; met++) {
    const base = best[met];
    if (base === undefined) continue;
    for (const [bits, added] of byBits) {
      const next = met | bits;
      if (next === met) continue;
      const extended = {
        credentials: [...base.credentials, added],
        heldByIssuer: base.heldByIssuer + Number(added.fields.holder !== party),
        earliestEnd: Math.min(base.earliestEnd, endOf(added)),
      };
      const known = best[next];
      if (known === undefined || compareSets(extended, known) < 0) best[next] = extended;
    }
  }
  return (best[all]?.credentials ?? []).toSorted((a, b) => comparePreference(party, a, b));
}

function compareSets(a: CredentialSet, b: CredentialSet): number {
  const byEnd = a.earliestEnd === b.earliestEnd ? 0 : b.earliestEnd - a.earliestEnd;
  const bySize = a.credentials.length - b.credentials.length || a.heldByIssuer - b.heldByIssuer || byEnd;
  return bySize !== 0 ? bySize : idsOf(a) < idsOf(b) ? -1 : 1;
}

const idsOf = ({ credentials }: CredentialSet): string =>
  credentials
    .map(({ contractId }) => contractId)
    .toSorted()
    .join();

/** As `smallestSet`, one credential at a time: the one that meets most of what is left, the preferred of equals. */
function greedySet(
  party: string,
  requirements: readonly Requirement[],
  candidates: readonly Contract<Credential>[],
): readonly Contract<Credential>[] {
  const chosen: Contract<Credential>[] = [];
  let left = requirements;
  while (left.length > 0) {
    let best: Contract<Credential> | undefined;
    let most = 0;
    for (const candidate of candidates) {
      const count = left.filter((requirement) => meets(candidate.fields, party, requirement)).length;
      if (count > most) [best, most] = [candidate, count];
    }
    if (best === undefined) break;
    const { fields } = best;
    chosen.push(best);
    left = left.filter((requirement) => !meets(fields, party, requirement));
  }
  return chosen;
}

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
  selector: ContractSelector,
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
function requirementsOf(
  selector: ContractSelector,
  role: Role,
  instruments: readonly string[],
): readonly Requirement[] {
  const ofInstrument = (id: string): readonly Requirement[] => {
    const configuration = configurationOf(selector, id, false);
    return configuration === undefined ? [] : requirementsFor(role, configuration.fields);
  };
  const [only, second] = instruments;
  if (only !== undefined && second === undefined) return ofInstrument(only);
  const distinct = new Map<string, Requirement>();
  for (const id of instruments)
    for (const requirement of ofInstrument(id)) distinct.set(textOf(requirement), requirement);
  return [...distinct.values()];
}

const texts = new WeakMap<Requirement, string>();

/** Equal for equal requirements. A settlement compares those of each instrument for each of its parties. */
function textOf(requirement: Requirement): string {
  let text = texts.get(requirement);
  if (text === undefined) texts.set(requirement, (text = JSON.stringify(requirement)));
  return text;
}

/**
 * The credentials that may count for the requirements, on any synchronizer, each once. They are indexed by holder and by
 * subject, so those of large allow-lists are found without a scan.
 */
function candidatesFor(
  view: View,
  party: string,
  requirements: readonly Requirement[],
): readonly Contract<Credential>[] {
  const keys: string[] = [];
  const add = (key: string): void => void (keys.includes(key) || keys.push(key));
  for (const { issuer, requiredClaims } of requirements) {
    add(indexKeys.credential(issuer, party));
    // Any credential that the issuer holds meets a requirement without claims.
    if (requiredClaims.length === 0 && issuer !== party) add(indexKeys.credential(issuer, issuer));
  }
  const [first = "", second] = keys;
  if (second === undefined) return view.byKey(credential, first);
  return [...new Set(keys.flatMap((key) => view.byKey(credential, key)))];
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
  selector: ContractSelector,
  party: string,
  role: Role,
  instruments: readonly string[],
  candidates: readonly Contract<Credential>[],
  { chosen }: CredentialSelection,
  required: boolean,
): void {
  const { recorder, now } = selector.context;
  const distinct = new Map(requirementsOf(selector, role, instruments).map((one) => [textOf(one), one]));
  const has = (instrument: string, text: string) =>
    requirementsOf(selector, role, [instrument]).some((one) => textOf(one) === text);
  const fieldsOf = new Map<Contract, Credential>(candidates.map((candidate) => [candidate, candidate.fields]));
  recorder?.credentials({
    party,
    requirements: Array.from(distinct, ([text, requirement]) => ({
      ...requirement,
      instruments: instruments.filter((instrument) => has(instrument, text)),
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
