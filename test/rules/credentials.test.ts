/** The credentials of every operation: one for each requirement, none that nothing needs. See also test/registry/credentials. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { element, type Options, parties, payload, requirement } from "../fixtures/elements.js";
import { refused, restAndGrpc, shortOutcome } from "../fixtures/outcomes.js";
import { useRegistry } from "../fixtures/registries.js";
import { WITH_CREDENTIALS_REQUIRED } from "../fixtures/run-service.js";
import { groupElements, partyElements, rowsOf } from "./table.js";

const { issuer, registrar } = parties;
const SECOND = "issuer-2::1220";
const people = ["alice", "bob", "carol"];

/** Requirements of holders and issuers alike. */
const needs = (...requirements: readonly JsonObject[]): JsonObject => ({
  holderRequirements: [...requirements],
  issuerRequirements: [...requirements],
});
const claimOn = (subject: string, claim: string): JsonObject => {
  const [property = "", value = ""] = claim.split("=");
  return { subject, property, value };
};
/** A credential of each person with these claims on it. */
const each = (id: string, claims: readonly string[], more: JsonObject = {}, options: Options = {}): JsonObject[] =>
  people.map((party) => {
    const claimed = { claims: claims.map((claim) => claimOn(party, claim)) };
    return element("Credential", `${id}-${party}`, payload.credential(party, [], { ...claimed, ...more }), options);
  });

const rows = rowsOf("").table.filter(({ keys }) => keys.some((key) => key.endsWith("-credentials")));
const isCredential = (one: JsonObject): boolean => JSON.stringify(one).includes("Credential:Credential");
const world = (requirements: JsonObject, ...credentials: readonly JsonObject[]): JsonObject[] => [
  ...groupElements("", {}, requirements),
  ...partyElements.filter((one) => !isCredential(one)),
  ...credentials,
];

/** The parties whose credentials stand in the answer: of USD's people and registrar. */
const partiesOf = (disclosed: readonly string[]): string[] =>
  people.filter((party) => disclosed.some((id) => id.startsWith(`${party}-holds`) || id.startsWith(`${party}-issues`)));

/** Whether the operation lists the credentials with these names of each of its parties, and no others. */
const hasCredentials = (
  names: readonly string[],
  disclosed: readonly string[],
  of: readonly string[],
): readonly string[] =>
  [
    ...disclosed.filter((id) => !/-(holds|issues)$/.test(id)),
    ...names.flatMap((name) => of.map((party) => `${name}-${party}`)),
  ].toSorted();

const stale = { validUntil: "2026-06-01T00:00:00Z" };
const early = { validFrom: "2026-06-01T00:00:00.000001Z" };
const ofOthers = { holder: "dave" };

test("every operation with credentials is asked", () => {
  expect(rows).toHaveLength(10 + 4 + 2 + 1 + 4);
});

describe.each(restAndGrpc)("over %s", (_protocol, send) => {
  const one = requirement(["a=1"]);
  const two = [requirement(["a=1"]), requirement(["b=1"])];

  describe.each<[string, JsonObject, readonly JsonObject[], readonly string[]]>([
    [
      "one that makes all claims of the requirement, not several that do together",
      needs(requirement(["a=1", "b=1"])),
      [...each("a", ["a=1"]), ...each("b", ["b=1"]), ...each("c", ["b=1", "a=1", "c=1"])],
      ["c"],
    ],
    [
      "none if only several make all claims",
      needs(requirement(["a=1", "b=1"])),
      [...each("a", ["a=1"]), ...each("b", ["b=1"])],
      [],
    ],
    [
      "one for two requirements",
      needs(...two),
      [...each("a", ["a=1"]), ...each("b", ["b=1"]), ...each("c", ["a=1", "b=1"])],
      ["c"],
    ],
    [
      "one for each requirement",
      needs(...two),
      [...each("a", ["a=1"]), ...each("b", ["b=1"]), ...each("d", ["d=1"])],
      ["a", "b"],
    ],
    [
      "one of each issuer",
      needs(one, requirement(["a=1"], SECOND)),
      [...each("a", ["a=1"]), ...each("b", ["a=1"], { issuer: SECOND })],
      ["a", "b"],
    ],
    ["any of the issuer for a requirement without claims", needs(requirement([])), each("any", ["z=9"]), ["any"]],
    ["one without claims for a requirement without claims", needs(requirement([])), each("any", []), ["any"]],
    [
      "none of another issuer for a requirement without claims",
      needs(requirement([])),
      each("any", [], { issuer: SECOND }),
      [],
    ],
    ["none that a third party holds", needs(one), each("theirs", ["a=1"], ofOthers), []],
    [
      "none that a third party holds for a requirement without claims",
      needs(requirement([])),
      each("theirs", [], ofOthers),
      [],
    ],
    ["none that has ended", needs(one), each("stale", ["a=1"], stale), []],
    ["none that is not valid yet", needs(one), each("early", ["a=1"], early), []],
    [
      "a valid one beside those that are not",
      needs(one),
      [...each("stale", ["a=1", "b=1"], stale), ...each("early", ["a=1"], early), ...each("valid", ["a=1"])],
      ["valid"],
    ],
    [
      "one that lasts a day before one that does not",
      needs(one),
      [
        ...each("brief", ["a=1"], { validUntil: "2026-06-01T23:59:59Z" }),
        ...each("long", ["a=1"], { validUntil: "2026-06-02T00:00:00Z" }),
      ],
      ["long"],
    ],
    ["none without requirements", needs(), each("any", ["a=1"]), []],
  ])("the list has %s", (_what, requirements, credentials, names) => {
    const url = useRegistry(world(requirements, ...credentials));

    test.each(rows)("$name", async ({ call, disclosed }) => {
      const expected = hasCredentials(names, disclosed, partiesOf(disclosed));
      expect(shortOutcome(await send(url(), call))).toMatchObject({ disclosed: expected });
    });
  });

  describe("one allow-list of the issuer counts for all, and is disclosed once", () => {
    const list = element(
      "Credential",
      "list",
      payload.credential(issuer, [], { claims: [...people, registrar, "dave"].map((party) => claimOn(party, "a=1")) }),
    );
    const url = useRegistry(world(needs(one), list));

    test.each(rows)("$name", async ({ call, disclosed }) => {
      const expected = [...disclosed.filter((id) => !/-(holds|issues)$/.test(id)), "list"].toSorted();
      expect(shortOutcome(await send(url(), call))).toMatchObject({ disclosed: expected });
    });
  });

  describe("a requirement without claims is met by what the issuer holds", () => {
    const any = element("Credential", "list", payload.credential(issuer, []));
    const url = useRegistry(world(needs(requirement([])), any));

    test.each(rows)("$name", async ({ call }) => {
      expect(shortOutcome(await send(url(), call))["disclosed"]).toContain("list");
    });
  });

  describe("if credentials are required, each requirement that none meets is named", () => {
    const url = useRegistry(world(needs(...two), ...each("a", ["a=1"])), WITH_CREDENTIALS_REQUIRED);

    // The ledger reads nothing for a transfer to oneself.
    test.each(rows.filter(({ name }) => !name.endsWith(", self")))("$name", async ({ call, disclosed }) => {
      const answer = shortOutcome(await send(url(), call));
      expect(answer).toEqual(refused(404, ...partiesOf(disclosed), issuer, "b = 1"));
      expect(answer).not.toEqual(refused(404, "a = 1"));
    });
  });
});
