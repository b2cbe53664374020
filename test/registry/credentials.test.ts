/** Tests the selection of credentials, by examples and against an exhaustive search. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Claim, Requirement } from "../../src/registry/sdk/registry.js";
import { chooseCredentials } from "../../src/registry/utility/selection/credentials.js";
import { credential, type Credential } from "../../src/registry/utility/templates/parties.js";
import type { Contract } from "../../src/domain/contract.js";

/** The current time in milliseconds, for the rules, and in microseconds, as on the ledger. */
const NOW_MS = 1;
const NOW = NOW_MS * 1_000;

/** A claim is one letter: its property and its value. */
const claim = (letter: string): Claim => ({ property: letter, value: letter.toUpperCase() });
const requirement = (letters: string, issuer = "issuer"): Requirement => ({
  issuer,
  requiredClaims: letters.split("").map(claim),
});

/** A claim in a credential's payload. */
interface SubjectClaim extends Claim {
  readonly subject: string;
}

const claimsOn = (subject: string, made: readonly string[]): readonly SubjectClaim[] =>
  made.map((letter) => Object.assign({ subject }, claim(letter)));

/** The fields of a credential that a test may set. */
type More = Partial<Omit<Credential, "subjects">> & { readonly claims?: readonly SubjectClaim[] };

/** The claims in a credential's payload, with their subjects. */
const claimsOf = ({ payload }: Contract): readonly SubjectClaim[] =>
  (JSON.parse(payload) as { claims: SubjectClaim[] }).claims;

/** A credential of the party that claims these letters, parsed by the template. */
function held(contractId: string, letters: string, more: More = {}): Contract<Credential> {
  const { issuer = "issuer", holder = "party", claims = claimsOn("party", letters.split("")), ...times } = more;
  const payload = {
    issuer,
    holder,
    claims: claims.map(({ subject, property, value }) => ({ subject, property, value })),
  };
  const read = credential.parse(payload);
  if (read === undefined) throw new Error("every credential is kept");
  // Set directly: the payload's time strings would be clumsy here.
  const fields: Credential = { ...read.fields, ...times };
  return {
    contractId,
    template: credential,
    templateId: "pkg-1:Utility.Credential.V0.Credential:Credential",
    payload: JSON.stringify(payload),
    fields,
    indexKeys: [],
    createdEventBlob: "AAAA",
    createdAt: "2026-01-05T09:00:00Z",
    createdMicros: 0,
    synchronizerId: "sync-A",
    reassignmentCounter: 0,
    supply: undefined,
    slots: undefined,
  };
}

/** The letters that are lacking, by issuer. */
type Lacking = Readonly<Record<string, string>>;

/** The ids chosen for "party" at NOW, in order, and the letters that are lacking if there are any. */
function chosen(requirements: readonly Requirement[], candidates: readonly Contract<Credential>[]) {
  const choice = chooseCredentials("party", requirements, candidates, NOW_MS);
  const ids = choice.chosen.map(({ contractId }) => contractId);
  if (choice.lacking.length === 0) return ids;
  const lacking: Lacking = Object.fromEntries(
    choice.lacking.map(({ issuer, claims }) => [issuer, claims.map(({ property }) => property).join("")]),
  );
  return { ids, lacking };
}

describe("examples", () => {
  test("without requirements no credential is chosen", () => {
    expect(chosen([], [held("1", "a")])).toEqual([]);
    expect(chosen([requirement("")], [held("1", "a")])).toEqual([]);
  });

  test("a credential that makes every claim is chosen alone", () => {
    expect(chosen([requirement("ab")], [held("1", "a"), held("2", "b"), held("3", "abc")])).toEqual(["3"]);
  });

  test("of those that make every claim, the one valid longest is chosen", () => {
    const candidates = [
      held("1", "ab", { validUntil: NOW + 10 }),
      held("2", "ab", { validUntil: NOW + 30 }),
      held("3", "abc", { validUntil: NOW + 20 }),
    ];
    expect(chosen([requirement("ab")], candidates)).toEqual(["2"]);
    expect(chosen([requirement("ab")], [...candidates, held("4", "ab")])).toEqual(["4"]);
  });

  test("of those valid equally long, the first candidate is chosen", () => {
    expect(chosen([requirement("a")], [held("2", "a"), held("1", "a"), held("3", "ab")])).toEqual(["2"]);
  });

  test("one that expires sooner is preferred to two that expire later", () => {
    const candidates = [held("1", "a"), held("2", "b"), held("3", "ab", { validUntil: NOW + 1 })];
    expect(chosen([requirement("ab")], candidates)).toEqual(["3"]);
  });

  test("several credentials are combined if none makes all claims", () => {
    expect(chosen([requirement("ab")], [held("1", "a"), held("2", "b")])).toEqual(["1", "2"]);
  });

  test("the smallest set is chosen where a greedy search needs one more", () => {
    const candidates = [held("wide", "abcd"), held("left", "abe"), held("right", "cdf")];
    expect(chosen([requirement("abcdef")], candidates)).toEqual(["left", "right"]);
  });

  test("one credential may meet several requirements on its issuer", () => {
    expect(chosen([requirement("a"), requirement("b"), requirement("ab")], [held("1", "ab")])).toEqual(["1"]);
  });

  test("the chosen credentials are sorted by issuer, whatever the order of requirements and candidates", () => {
    const asked = ["west", "east", "north"].map((issuer) => requirement("a", issuer));
    const candidates = ["north", "west", "east"].map((issuer) => held(issuer, "a", { issuer }));
    for (const order of [
      asked,
      asked.toReversed(),
      asked.toSorted((one, other) => ascending(one.issuer, other.issuer)),
    ]) {
      expect(chosen(order, candidates)).toEqual(["east", "north", "west"]);
      expect(chosen(order, candidates.toReversed())).toEqual(["east", "north", "west"]);
      // With another candidate the general case runs instead of the fast path.
      expect(chosen(order, [...candidates, held("more", "b", { issuer: "west" })])).toEqual(["east", "north", "west"]);
    }
    expect(candidates.map(({ contractId }) => contractId)).toEqual(["north", "west", "east"]);
  });

  test("a claim counts only from the required issuer", () => {
    const other = held("2", "b", { issuer: "other" });
    expect(chosen([requirement("a"), requirement("b", "other")], [held("1", "ab"), other])).toEqual(["1", "2"]);
    expect(chosen([requirement("a"), requirement("b", "other")], [held("1", "ab")])).toEqual({
      ids: ["1"],
      lacking: { other: "b" },
    });
  });

  test.each<[string, More, boolean]>([
    ["is valid from now on", { validFrom: NOW }, true],
    ["is valid from a moment later on", { validFrom: NOW + 1 }, false],
    ["is valid until a moment later", { validUntil: NOW + 1 }, true],
    ["was valid until now", { validUntil: NOW }, false],
    ["is valid now and at no other time", { validFrom: NOW, validUntil: NOW + 1 }, true],
    ["was valid in 1969", { validUntil: -1 }, false],
    ["is of another holder", { holder: "other", claims: claimsOn("other", ["a"]) }, false],
    ["is held by its issuer", { holder: "issuer" }, true],
    [
      "is held by its issuer and claims something of another",
      { holder: "issuer", claims: claimsOn("other", ["a"]) },
      false,
    ],
    ["is held by a third party", { holder: "other" }, false],
    ["is of another issuer", { issuer: "other" }, false],
    ["is of another issuer, which holds it", { issuer: "other", holder: "other" }, false],
    ["claims something of another subject", { claims: [{ subject: "other", ...claim("a") }] }, false],
    ["claims another value", { claims: [{ subject: "party", property: "a", value: "a" }] }, false],
    ["claims another property", { claims: [{ subject: "party", property: "A", value: "A" }] }, false],
    ["claims nothing", { claims: [] }, false],
  ])("whether a credential that %s counts", (_what, more, counts) => {
    expect(chosen([requirement("a")], [held("1", "a", more)])).toEqual(
      counts ? ["1"] : { ids: [], lacking: { issuer: "a" } },
    );
  });

  test("what there is is chosen, and every claim that no credential makes is reported, by issuer", () => {
    expect(chosen([requirement("abcd")], [held("1", "b")])).toEqual({ ids: ["1"], lacking: { issuer: "acd" } });
    expect(chosen([requirement("ab"), requirement("a", "other")], [held("1", "c")])).toEqual({
      ids: [],
      lacking: { issuer: "ab", other: "a" },
    });
    const candidates = [held("1", "a"), held("2", "b"), held("3", "ab"), held("4", "d")];
    expect(chosen([requirement("abcd")], candidates)).toEqual({ ids: ["3", "4"], lacking: { issuer: "c" } });
  });

  test("of those that make every claim, one that the party holds comes before one that the issuer holds", () => {
    const byIssuer = held("issuer's", "ab", { holder: "issuer" });
    const brief = held("own", "ab", { validUntil: NOW + 1 });
    expect(chosen([requirement("ab")], [byIssuer, brief])).toEqual(["own"]);
    expect(chosen([requirement("ab")], [brief, byIssuer])).toEqual(["own"]);
  });

  test("of those that the issuer holds, the one valid longest is chosen", () => {
    const [short, long] = [10, 20].map((after) =>
      held(`until ${after}`, "a", { holder: "issuer", validUntil: NOW + after }),
    );
    if (short === undefined || long === undefined) throw new Error("there are two");
    expect(chosen([requirement("a")], [short, long])).toEqual(["until 20"]);
    expect(chosen([requirement("a")], [long, short])).toEqual(["until 20"]);
  });

  test("a single one that the issuer holds is preferred to two that the party holds", () => {
    const candidates = [held("1", "a"), held("2", "b"), held("issuer's", "ab", { holder: "issuer" })];
    expect(chosen([requirement("ab")], candidates)).toEqual(["issuer's"]);
  });

  test("the party's and the issuer's are combined, and of equally few the party's are chosen", () => {
    const list = (id: string, letters: string) => held(id, letters, { holder: "issuer" });
    expect(chosen([requirement("ab")], [list("1", "a"), held("2", "b")])).toEqual(["2", "1"]);
    expect(chosen([requirement("ab")], [list("1", "a"), list("2", "b"), held("3", "b")])).toEqual(["3", "1"]);
  });

  test("an allow-list has one entry for each of its subjects, whatever the order of its claims", () => {
    const claims = [
      ...claimsOn("z", ["a", "b"]),
      ...claimsOn("party", ["a"]),
      ...claimsOn("a", ["b"]),
      ...claimsOn("party", ["b"]),
    ];
    expect(chosen([requirement("ab")], [held("1", "", { holder: "issuer", claims })])).toEqual(["1"]);
    expect(chosen([requirement("abc")], [held("1", "", { holder: "issuer", claims })])).toEqual({
      ids: ["1"],
      lacking: { issuer: "c" },
    });
  });
});

const letters = ["a", "b", "c", "d"];
const issuers = ["issuer", "other"];
const time = fc.option(fc.integer({ min: NOW - 3, max: NOW + 3 }), { nil: undefined });

const someCredential = fc.record({
  letters: fc.subarray(letters),
  issuer: fc.constantFrom("issuer", "issuer", "issuer", "other"),
  holder: fc.constantFrom("party", "party", "party", "issuer", "issuer", "other", "stranger"),
  subject: fc.constantFrom("party", "party", "party", "party", "stranger"),
  validFrom: time,
  validUntil: time,
});
const someCandidates = fc
  .array(someCredential, { maxLength: 6 })
  .map((list) =>
    list.map(({ letters: made, subject, ...fields }, index) =>
      held(String(index), "", { ...fields, claims: claimsOn(subject, made) }),
    ),
  );
const someRequirements = fc.array(
  fc
    .record({ issuer: fc.constantFrom(...issuers), letters: fc.subarray(letters) })
    .map(({ issuer, letters: claimed }) => requirement(claimed.join(""), issuer)),
  { maxLength: 3 },
);

/** Whether a set of credentials meets all requirements, written directly after the specification. */
function meets(requirements: readonly Requirement[], set: readonly Contract<Credential>[]): boolean {
  return requirements.every(({ issuer, requiredClaims }) =>
    requiredClaims.every(({ property, value }) =>
      set.some((one) => {
        const { fields } = one;
        return (
          fields.issuer === issuer &&
          (fields.holder === "party" || fields.holder === issuer) &&
          (fields.validFrom === undefined || fields.validFrom <= NOW) &&
          (fields.validUntil === undefined || NOW < fields.validUntil) &&
          claimsOf(one).some((made) => made.subject === "party" && made.property === property && made.value === value)
        );
      }),
    ),
  );
}

/** All subsets of the candidates. */
function subsets(candidates: readonly Contract<Credential>[]): Contract<Credential>[][] {
  return Array.from({ length: 1 << candidates.length }, (_, bits) =>
    candidates.filter((_candidate, index) => (bits & (1 << index)) !== 0),
  );
}

/** The requirements, without the claims that no candidate makes. */
const makeable = (requirements: readonly Requirement[], candidates: readonly Contract<Credential>[]): Requirement[] =>
  requirements.map(({ issuer, requiredClaims }) => ({
    issuer,
    requiredClaims: requiredClaims.filter(({ property }) => meets([requirement(property, issuer)], candidates)),
  }));

/** The letters that no candidate makes, ascending, by issuer; written directly after the specification. */
function lackingOf(requirements: readonly Requirement[], candidates: readonly Contract<Credential>[]): Lacking {
  const lettersOf = (issuer: string) =>
    letters.filter(
      (letter) =>
        requirements.some(
          (one) => one.issuer === issuer && one.requiredClaims.some(({ property }) => property === letter),
        ) && !meets([requirement(letter, issuer)], candidates),
    );
  return Object.fromEntries(
    issuers.map((issuer) => [issuer, lettersOf(issuer).join("")]).filter(([, lacking]) => lacking !== ""),
  );
}

const ascending = (a: string, b: string): number => (a < b ? -1 : 1);
const until = ({ fields }: Contract<Credential>): number => fields.validUntil ?? Infinity;

describe("compared with all subsets", () => {
  test("every claim that any candidate makes is made, with as few as possible", () => {
    fc.assert(
      fc.property(someRequirements, someCandidates, (requirements, candidates) => {
        const made = makeable(requirements, candidates);
        const meeting = subsets(candidates).filter((set) => meets(made, set));
        const choice = chooseCredentials("party", requirements, candidates, NOW_MS);
        expect(meets(made, choice.chosen)).toBe(true);
        expect(choice.chosen).toHaveLength(Math.min(...meeting.map((set) => set.length)));
      }),
      { numRuns: 2_000 },
    );
  });

  test("of single credentials that meet everything, the party's own come first, then those valid longest", () => {
    fc.assert(
      fc.property(someRequirements, someCandidates, (requirements, candidates) => {
        const single = candidates.filter((one) => meets(requirements, [one]));
        fc.pre(single.length > 0 && !meets(requirements, []));
        const own = single.filter(({ fields }) => fields.holder === "party");
        const preferred = own.length > 0 ? own : single;
        const longest = preferred.find((one) => until(one) === Math.max(...preferred.map(until)));
        expect(chooseCredentials("party", requirements, candidates, NOW_MS)).toEqual({
          chosen: [longest],
          lacking: [],
        });
      }),
      { numRuns: 1_000 },
    );
  });

  test("the lacking claims are those that no credential makes, by ascending issuer", () => {
    fc.assert(
      fc.property(someRequirements, someCandidates, (requirements, candidates) => {
        const { lacking } = chooseCredentials("party", requirements, candidates, NOW_MS);
        const found = lacking.map(({ issuer, claims }): [string, string] => [
          issuer,
          claims
            .map(({ property }) => property)
            .toSorted(ascending)
            .join(""),
        ]);
        expect(found).toEqual(Object.entries(lackingOf(requirements, candidates)));
      }),
      { numRuns: 1_000 },
    );
  });

  test("no chosen credential is redundant", () => {
    fc.assert(
      fc.property(someRequirements, someCandidates, (requirements, candidates) => {
        const choice = chooseCredentials("party", requirements, candidates, NOW_MS);
        expect(new Set(choice.chosen).size).toBe(choice.chosen.length);
        for (const one of choice.chosen) {
          expect(
            meets(
              makeable(requirements, candidates),
              choice.chosen.filter((other) => other !== one),
            ),
          ).toBe(false);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

/** The list in another order, determined by the drawn numbers. */
function shuffled<T>(list: readonly T[], draws: readonly number[]): T[] {
  return list
    .map((value, index) => ({ value, draw: draws[index % draws.length] ?? 0, index }))
    .toSorted((a, b) => a.draw - b.draw || a.index - b.index)
    .map(({ value }) => value);
}
const draws = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 6, maxLength: 6 });

/** The chosen ids and the lacking letters, sorted. */
const idsOf = (requirements: readonly Requirement[], candidates: readonly Contract<Credential>[]) => {
  const choice = chooseCredentials("party", requirements, candidates, NOW_MS);
  return {
    ids: choice.chosen.map(({ contractId }) => contractId).toSorted(ascending),
    lacking: choice.lacking.flatMap(({ claims }) => claims.map(({ property }) => property)).toSorted(ascending),
  };
};

describe("the selection does not change", () => {
  test("if the credentials' claims are reordered or duplicated", () => {
    fc.assert(
      fc.property(someRequirements, someCandidates, draws, (requirements, candidates, drawn) => {
        const others = candidates.map((one) => {
          const { issuer, holder, validFrom, validUntil } = one.fields;
          const claims = shuffled([...claimsOf(one), ...claimsOf(one)], drawn);
          return held(one.contractId, "", { issuer, holder, validFrom, validUntil, claims });
        });
        expect(chosen(requirements, others)).toEqual(chosen(requirements, candidates));
      }),
    );
  });

  test("if requirements are duplicated", () => {
    fc.assert(
      fc.property(someRequirements, someCandidates, (requirements, candidates) => {
        expect(chosen([...requirements, ...requirements], candidates)).toEqual(chosen(requirements, candidates));
      }),
    );
  });

  test("if irrelevant candidates are added", () => {
    fc.assert(
      fc.property(someRequirements, someCandidates, (requirements, candidates) => {
        const between = candidates.flatMap((one, index) => [
          held(`expired-${index}`, "abcd", { validUntil: NOW }),
          held(`of a stranger-${index}`, "abcd", { holder: "stranger" }),
          one,
        ]);
        expect(chosen(requirements, between)).toEqual(chosen(requirements, candidates));
      }),
    );
  });

  test("if a requirement's claims are reordered", () => {
    const wide = fc.subarray(letters, { minLength: 1, maxLength: 2 });
    const several = fc.array(wide, { minLength: 4, maxLength: 6 });
    fc.assert(
      fc.property(several, fc.shuffledSubarray(letters, { minLength: 3 }), (made, required) => {
        const candidates = made.map((some, index) => held(String(index), some.join("")));
        const inOrder = [requirement(required.toSorted(ascending).join(""))];
        expect(idsOf([requirement(required.join(""))], candidates)).toEqual(idsOf(inOrder, candidates));
      }),
      { numRuns: 2_000 },
    );
  });

  test("if the requirements are reordered", () => {
    const candidates = [held("1", "a"), held("2", "c"), held("3", "ab"), held("4", "bc")];
    const [a, b, c] = [requirement("a"), requirement("b"), requirement("c")];
    const first = idsOf([a, b, c], candidates);
    for (const order of [
      [a, c, b],
      [b, a, c],
      [b, c, a],
      [c, a, b],
      [c, b, a],
    ]) {
      expect(idsOf(order, candidates)).toEqual(first);
    }
  });
});

test("requirements beyond the search limit are met too", () => {
  // 60 claims, and 400 credentials that make up to five each: too many sets to try.
  let state = 1;
  const random = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  const alphabet = Array.from({ length: 60 }, (_, index) => String.fromCodePoint(0x4e00 + index));
  const candidates = Array.from({ length: 400 }, (_, index) =>
    held(String(index), Array.from({ length: 5 }, () => alphabet[random(60)] ?? "").join("")),
  );
  const begun = performance.now();
  const choice = chooseCredentials("party", [requirement(alphabet.join(""))], candidates, NOW_MS);
  expect(performance.now() - begun).toBeLessThan(2_000);
  expect(choice.lacking).toEqual([]);
  expect(meets([requirement(alphabet.join(""))], choice.chosen)).toBe(true);
  expect(choice.chosen.length).toBeLessThan(30);
});
