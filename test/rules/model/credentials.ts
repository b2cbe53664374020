/** Which credentials meet a party's requirements, as "Credentials" in the specification defines it. */
import type { JsonValue } from "../../../src/domain/json.js";
import { distinct } from "./arguments.js";
import { contractsOf, type Ledger, type LedgerContract, microseconds, read, readList, readText } from "./ledger.js";

/** What one credential has to meet: claims as `property=value`. */
export interface Requirement {
  readonly issuer: string;
  readonly claims: readonly string[];
}

/** The credentials of one issuer in an answer. */
export interface CredentialChoice {
  readonly party: string;
  readonly issuer: string;
  /** Every set of contract ids that the specification allows, each sorted: they differ in contract ids alone. */
  readonly sets: readonly (readonly string[])[];
}

export interface ChosenCredentials {
  readonly choices: readonly CredentialChoice[];
  /** The requirements that no credential on the synchronizer meets. */
  readonly unmet: readonly { readonly requirement: Requirement; readonly isMetElsewhere: boolean }[];
}

/** The requirements of several configurations, each once. */
export function requirementsOf(
  configurations: readonly LedgerContract[],
  field: "holderRequirements" | "issuerRequirements",
): Requirement[] {
  const all = configurations
    .flatMap(({ payload }) => readList(payload, field))
    .map((requirement) => ({
      issuer: issuerOf(requirement),
      claims: readList(requirement, "requiredClaims").map((pair) => `${readText(pair, "_1")}=${readText(pair, "_2")}`),
    }));
  return distinct(all.map((one) => JSON.stringify(one))).map((text) => JSON.parse(text) as Requirement);
}

const MINUTE = 60_000_000;
const DAY = 24 * 60 * MINUTE;

/** `now` is in milliseconds since 1970. */
export function chooseCredentials(
  ledger: Ledger,
  synchronizer: string,
  now: number,
  party: string,
  requirements: readonly Requirement[],
): ChosenCredentials {
  const valid = contractsOf(ledger, "Credential").filter((credential) => isValid(credential, now));
  const here = valid.filter(({ synchronizerId }) => synchronizerId === synchronizer);
  const isMet = (credentials: readonly LedgerContract[], one: Requirement): boolean =>
    credentials.some((credential) => meetsAlone(credential, party, one));
  const met = requirements.filter((one) => isMet(here, one));
  const lasting = [DAY, MINUTE, 0]
    .map((ahead) => here.filter((one) => validUntil(one) >= now * 1000 + ahead))
    .find((some) => met.every((one) => isMet(some, one)));
  const issuers = distinct(met.map(({ issuer }) => issuer));
  return {
    choices: issuers.map((issuer) => {
      const own = met.filter((one) => one.issuer === issuer);
      const useful = (lasting ?? []).filter((credential) => own.some((one) => meetsAlone(credential, party, one)));
      const sets = smallest(useful, (set) => own.every((one) => isMet(set, one)));
      return { party, issuer, sets: preferred(sets, party).map(idsOf) };
    }),
    unmet: requirements
      .filter((one) => !met.includes(one))
      .map((one) => ({ requirement: one, isMetElsewhere: isMet(valid, one) })),
  };
}

/** One credential meets a requirement by itself. One that a third party holds meets none. */
function meetsAlone(credential: LedgerContract, party: string, { issuer, claims }: Requirement): boolean {
  const made = claimsOn(credential, party);
  return (
    issuerOf(credential.payload) === issuer &&
    [party, issuer].includes(holderOf(credential)) &&
    claims.every((claim) => made.includes(claim))
  );
}

/** Every set of the smallest size that meets the condition. */
function smallest(
  credentials: readonly LedgerContract[],
  condition: (set: readonly LedgerContract[]) => boolean,
): LedgerContract[][] {
  for (let size = 0; size <= credentials.length; size++) {
    const sets = subsets(credentials, size).filter(condition);
    if (sets.length > 0) return sets;
  }
  return [];
}

function subsets<T>(elements: readonly T[], size: number): T[][] {
  if (size === 0) return [[]];
  return elements.flatMap((first, index) =>
    subsets(elements.slice(index + 1), size - 1).map((others) => [first].concat(others)),
  );
}

/** Those with most credentials held by the party, and of these those whose first end is the latest. */
function preferred(sets: readonly LedgerContract[][], party: string): LedgerContract[][] {
  const own = (set: readonly LedgerContract[]): number => set.filter((one) => holderOf(one) === party).length;
  const most = sets.filter((set) => own(set) === Math.max(...sets.map(own)));
  return most.filter((set) => firstEnd(set) === Math.max(...most.map(firstEnd)));
}

const firstEnd = (set: readonly LedgerContract[]): number => Math.min(...set.map(validUntil));

/** validFrom ≤ now < validUntil, each optional. */
function isValid(credential: LedgerContract, now: number): boolean {
  const from = readText(credential.payload, "validFrom");
  return (from === undefined || microseconds(from) <= now * 1000) && now * 1000 < validUntil(credential);
}

function validUntil({ payload }: LedgerContract): number {
  const until = readText(payload, "validUntil");
  return until === undefined ? Infinity : microseconds(until);
}

function claimsOn({ payload }: LedgerContract, subject: string): string[] {
  return readList(payload, "claims")
    .filter((claim) => read(claim, "subject") === subject)
    .map((claim) => `${readText(claim, "property")}=${readText(claim, "value")}`);
}

const idsOf = (set: readonly LedgerContract[]): string[] =>
  set.map(({ contractId }) => contractId).toSorted((a, b) => (a < b ? -1 : 1));
const issuerOf = (value: JsonValue): string => readText(value, "issuer") ?? "";
const holderOf = ({ payload }: LedgerContract): string => readText(payload, "holder") ?? "";
