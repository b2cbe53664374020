/** Which credentials meet a party's requirements, as "Credentials" in the specification defines it. */
import type { JsonValue } from "../../../src/domain/json.js";
import { contractsOf, type Ledger, type LedgerContract, microseconds, read, readList, readText } from "./ledger.js";
import { distinct } from "./choice-arguments.js";

/** What a party needs from one issuer: claims as `property=value`. */
export interface Requirement {
  readonly issuer: string;
  readonly claims: readonly string[];
}

/** The credentials of one issuer in an answer. */
export interface CredentialChoice {
  readonly party: string;
  readonly issuer: string;
  /** Every set of contract ids that the specification allows, each sorted. All have the same size. */
  readonly sets: readonly (readonly string[])[];
  /** Required claims that the sets do not make, but credentials elsewhere do. */
  readonly madeElsewhere: readonly string[];
  /** Required claims that no credential makes anywhere. */
  readonly madeNowhere: readonly string[];
}

/** The requirements of several configurations; those of one issuer are met together. */
export function requirementsOf(
  configurations: readonly LedgerContract[],
  field: "holderRequirements" | "issuerRequirements",
): Requirement[] {
  const all = configurations.flatMap(({ payload }) => readList(payload, field));
  return distinct(all.map(issuerOf)).map((issuer) => ({
    issuer,
    claims: distinct(
      all
        .filter((requirement) => issuerOf(requirement) === issuer)
        .flatMap((requirement) => readList(requirement, "requiredClaims"))
        .map((pair) => `${readText(pair, "_1")}=${readText(pair, "_2")}`),
    ),
  }));
}

/** `now` is in milliseconds since 1970. */
export function chooseCredentials(
  ledger: Ledger,
  synchronizer: string,
  now: number,
  party: string,
  { issuer, claims }: Requirement,
): CredentialChoice {
  const everywhere = contractsOf(ledger, "Credential").filter(
    (credential) =>
      issuerOf(credential.payload) === issuer &&
      [party, issuer].includes(holderOf(credential)) &&
      isValid(credential, now) &&
      claimsOn(credential, party).some((claim) => claims.includes(claim)),
  );
  const here = everywhere.filter(({ synchronizerId }) => synchronizerId === synchronizer);
  const made = (credentials: readonly LedgerContract[]): string[] =>
    claims.filter((claim) => credentials.some((one) => claimsOn(one, party).includes(claim)));
  const missing = claims.filter((claim) => !made(here).includes(claim));
  const makesAll = (set: readonly LedgerContract[]): boolean => made(set).length === made(here).length;
  return {
    party,
    issuer,
    sets: preferred(smallest(here, makesAll), here, party, makesAll).map((set) =>
      set.map(({ contractId }) => contractId).toSorted(compareTexts),
    ),
    madeElsewhere: missing.filter((claim) => made(everywhere).includes(claim)),
    madeNowhere: missing.filter((claim) => !made(everywhere).includes(claim)),
  };
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

/**
 * The sets in which no credential can be exchanged for a better one. Between sets that differ in several credentials,
 * and between credentials of one rank, the specification leaves the choice open.
 */
function preferred(
  sets: readonly LedgerContract[][],
  credentials: readonly LedgerContract[],
  party: string,
  condition: (set: readonly LedgerContract[]) => boolean,
): LedgerContract[][] {
  return sets.filter((set) =>
    set.every((chosen) => {
      const others = set.filter((one) => one !== chosen);
      return !credentials.some(
        (better) => !set.includes(better) && isBetter(better, chosen, party) && condition([...others, better]),
      );
    }),
  );
}

/** "One held by P before one held by the issuer, the one valid longest first." */
function isBetter(a: LedgerContract, b: LedgerContract, party: string): boolean {
  const byHolder = Number(holderOf(a) === party) - Number(holderOf(b) === party);
  return byHolder === 0 ? validUntil(a) > validUntil(b) : byHolder > 0;
}

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

const issuerOf = (value: JsonValue): string => readText(value, "issuer") ?? "";
const holderOf = ({ payload }: LedgerContract): string => readText(payload, "holder") ?? "";
const compareTexts = (a: string, b: string): number => (a < b ? -1 : 1);
