/** The choice of credentials, by examples of each rule and against an exhaustive search that shares no code with it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Contract } from "../../src/domain/contract.js";
import type { Requirement } from "../../src/registry/sdk/registry.js";
import { changeTimes, chooseCredentials } from "../../src/registry/utility/credentials.js";
import { element, payload } from "../fixtures/elements.js";
import { contractsOf } from "../fixtures/in-memory.js";
import { credential, type Credential } from "../../src/registry/utility/templates.js";

/** Milliseconds, for the rules; microseconds, as on the ledger. */
const NOW_MS = Date.parse("2026-06-01T00:00:00Z");
const NOW = NOW_MS * 1_000;
const MINUTE = 60_000_000;
const DAY = 24 * 60 * MINUTE;

/** A claim is a letter: its property, with its capital as value. */
interface Draft {
  readonly id: string;
  readonly issuer: string;
  readonly holder: string;
  readonly claims: readonly (readonly [subject: string, letter: string])[];
  readonly from?: number | undefined;
  readonly until?: number | undefined;
}

const requirement = (letters: string, issuer = "issuer"): Requirement => ({
  issuer,
  requiredClaims: letters.split("").map((letter) => ({ property: letter, value: letter.toUpperCase() })),
});

/** A credential of the party with claims on it. */
const held = (id: string, letters: string, more: Partial<Draft> = {}): Draft => ({
  id,
  issuer: "issuer",
  holder: "party",
  claims: letters.split("").map((letter) => ["party", letter] as const),
  ...more,
});

const [base] = contractsOf([element("Credential", "base", payload.credential("party", []))]);

const soon = (id: string, letters: string, ahead = 2 * MINUTE): Draft => held(id, letters, { until: NOW + ahead });

/** As the template reads it. The times are set directly: the payload has them as text. */
function contractOf({ id, issuer, holder, claims, from, until }: Draft): Contract<Credential> {
  const made = claims.map(([subject, letter]) => ({ subject, property: letter, value: letter.toUpperCase() }));
  const read = credential.parse({ issuer, holder, claims: made });
  if (read === undefined || base === undefined) throw new Error("every credential is kept");
  const fields = { ...read.fields, validFrom: from, validUntil: until };
  return { ...base, contractId: id, template: credential, fields };
}

const namesOf = ({ issuer, requiredClaims }: Requirement): string =>
  `${issuer}:${requiredClaims.map(({ property }) => property).join("")}`;

/** The chosen ids in order, and what is lacking as `issuer:letters`. */
function choose(requirements: readonly Requirement[], drafts: readonly Draft[], now = NOW_MS) {
  const { chosen, lacking } = chooseCredentials("party", requirements, drafts.map(contractOf), now);
  return { chosen: chosen.map(({ contractId }) => contractId), lacking: lacking.map(namesOf) };
}
test("a claim is met with its value", () => {
  const other = { issuer: "issuer", requiredClaims: [{ property: "a", value: "other" }] };
  expect(choose([other], [held("1", "a")])).toEqual({ chosen: [], lacking: ["issuer:a"] });
});

/** What random credentials rarely show. */
test.each<[string, string, readonly Draft[], string]>([
  ["ends a minute ahead before fewer", "ab", [soon("1", "ab", MINUTE - 1), soon("2", "a"), soon("3", "b")], "23"],
  ["a minute ahead is enough", "ab", [soon("1", "ab", MINUTE), soon("2", "a"), soon("3", "b")], "1"],
  ["fewer than with the widest one", "abcdef", [held("1", "abcd"), held("2", "abe"), held("3", "cdf")], "23"],
  ["the lower contract id", "a", [held("2", "a"), held("1", "a")], "1"],
])("of the sets that meet most requirements: %s", (_rule, letters, drafts, expected) => {
  const requirements = letters.split("").map((letter) => requirement(letter));
  for (const order of [drafts, drafts.toReversed()])
    expect(choose(requirements, order).chosen.toSorted().join("")).toBe(expected);
});

/** What the specification prefers, in order; higher is better. */
type Score = readonly [met: number, margin: number, fewness: number, own: number, end: number];

const meetsAlone = (draft: Draft, { issuer, requiredClaims }: Requirement): boolean =>
  draft.issuer === issuer &&
  (draft.holder === "party" || draft.holder === issuer) &&
  requiredClaims.every(({ property }) =>
    draft.claims.some(([subject, letter]) => subject === "party" && letter === property),
  );

const metBy = (set: readonly Draft[], requirements: readonly Requirement[]): readonly Requirement[] =>
  requirements.filter((one) => set.some((draft) => meetsAlone(draft, one)));

function scoreOf(set: readonly Draft[], requirements: readonly Requirement[]): Score {
  const end = Math.min(Infinity, ...set.map(({ until = Infinity }) => until));
  const margin = [MINUTE, DAY].filter((ahead) => end >= NOW + ahead).length;
  const own = set.filter(({ holder }) => holder === "party").length;
  return [metBy(set, requirements).length, margin, -set.length, own, end];
}

function compareScores(a: Score, b: Score): number {
  const index = a.findIndex((value, at) => value !== b[at]);
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}

const isValid = ({ from, until }: Draft): boolean =>
  (from === undefined || from <= NOW) && (until === undefined || NOW < until);

/** Every set of credentials that are valid and, as none is listed without need, the best score among them. */
function bestScore(requirements: readonly Requirement[], drafts: readonly Draft[]): Score {
  const sets: Draft[][] = [[]];
  for (const draft of drafts.filter(isValid)) sets.push(...sets.map((set) => set.concat(draft)));
  return sets
    .map((set) => scoreOf(set, requirements))
    .reduce((best, one) => (compareScores(one, best) > 0 ? one : best));
}

const letters = ["a", "b", "c", "d"];
const issuers = ["issuer", "another"];
const someRequirements = (max: number) =>
  fc.uniqueArray(
    fc
      .tuple(fc.subarray(letters, { maxLength: 2 }), fc.constantFrom("issuer", "issuer", "another"))
      .map(([some, issuer]) => requirement(some.join(""), issuer)),
    { maxLength: max, selector: namesOf },
  );
const ends = [-1, 0, 1, MINUTE - 1, MINUTE, DAY - 1, DAY, 2 * DAY].map((ahead) => NOW + ahead);
const someDrafts = fc
  .array(
    fc.record({
      issuer: fc.constantFrom("issuer", "issuer", "issuer", "another"),
      holder: fc.constantFrom("party", "party", ...issuers, "other"),
      claims: fc.array(fc.tuple(fc.constantFrom("party", "party", "party", "other"), fc.constantFrom(...letters)), {
        maxLength: 4,
      }),
      from: fc.constantFrom(undefined, undefined, undefined, NOW - 1, NOW, NOW + 1),
      until: fc.oneof(fc.constant(undefined), fc.constantFrom(undefined, ...ends)),
    }),
    { maxLength: 9 },
  )
  .map((drafts): Draft[] => drafts.map((draft, index) => ({ ...draft, id: String(index) })));

describe("on random credentials", () => {
  test("no set of valid credentials is preferred to the chosen one, up to 8 requirements", () => {
    fc.assert(
      fc.property(someRequirements(8), someDrafts, (requirements, drafts) => {
        const { chosen, lacking } = choose(requirements, drafts);
        const set = drafts.filter(({ id }) => chosen.includes(id));
        expect(set).toHaveLength(chosen.length);
        expect(set.filter((draft) => !isValid(draft))).toEqual([]);
        expect(scoreOf(set, requirements)).toEqual(bestScore(requirements, drafts));
        const met = metBy(drafts.filter(isValid), requirements);
        expect(lacking).toEqual(requirements.filter((one) => !met.includes(one)).map(namesOf));
      }),
      { numRuns: 1_000 },
    );
  });

  test("the order of requirements, credentials and claims does not matter", () => {
    fc.assert(
      fc.property(someRequirements(8), someDrafts, (requirements, drafts) => {
        const reversed = drafts.map((draft) => ({ ...draft, claims: draft.claims.toReversed() })).toReversed();
        const [one, other] = [choose(requirements, drafts), choose(requirements.toReversed(), reversed)];
        expect(other.chosen).toEqual(one.chosen);
      }),
      { numRuns: 1_000 },
    );
  });

  test("it changes at no other time than those announced", () => {
    fc.assert(
      fc.property(
        someRequirements(4),
        someDrafts,
        fc.integer({ min: 0, max: 3 * DAY }),
        (requirements, drafts, ahead) => {
          const later = NOW_MS + Math.floor(ahead / 1_000);
          const times = [...changeTimes(drafts.map(contractOf))];
          const isAnnounced = times.some((micros) => NOW < micros && micros <= later * 1_000);
          fc.pre(!isAnnounced);
          expect(choose(requirements, drafts, later)).toEqual(choose(requirements, drafts));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe("beyond 8 requirements of one issuer", () => {
  const alphabet = Array.from({ length: 60 }, (_, index) => String.fromCodePoint(0x4e00 + index));
  const single = alphabet.map((letter) => requirement(letter));

  test("all are met that can be, by the widest credential first", () => {
    const wide = held("wide", alphabet.slice(0, 40).join(""));
    const narrow = alphabet.slice(0, 59).map((letter, index) => held(`narrow-${index}`, letter));
    const { chosen, lacking } = choose(single, [...narrow, wide]);
    expect(chosen[0]).toBe("wide");
    expect(chosen).toHaveLength(1 + 19);
    expect(lacking).toEqual([`issuer:${alphabet[59] ?? ""}`]);
  });

  test("the margins and the order of preference hold for each", () => {
    const drafts = alphabet.flatMap((letter, index) => [
      held(`short-${index}`, letter, { until: NOW + DAY - 1 }),
      held(`issuers-${index}`, letter, { holder: "issuer" }),
      held(`earlier-${index}`, letter, { until: NOW + 2 * DAY }),
      held(`later-${index}`, letter, { until: NOW + 3 * DAY }),
    ]);
    expect(choose(single, drafts).chosen.toSorted()).toEqual(alphabet.map((_, index) => `later-${index}`).toSorted());
  });
});
