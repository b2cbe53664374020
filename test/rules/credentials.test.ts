/**
 * The credentials of every operation: which are listed, and what is said of those that are missing. How one set of a party's
 * credentials is preferred to another: test/registry/credentials.test.ts.
 */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import { burnMintFactory, transferFactory } from "../fixtures/calls/operations.js";
import { contractIds, prefixed } from "../fixtures/context.js";
import { element, type Options, parties, payload, requirement } from "../fixtures/elements.js";
import { transferV1 } from "../fixtures/requests.js";
import { ask, CREDENTIALS_REQUIRED, refused, type RulesOptions, rulesOn } from "../fixtures/rules.js";
import { groupElements, partyElements, rowsOf } from "./table.js";

const { issuer, registrar } = parties;
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
const credential = (id: string, party: string, claims: readonly string[], more: JsonObject = {}, options?: Options) => {
  const claimed = { claims: claims.map((claim) => claimOn(party, claim)) };
  return element("Credential", id, payload.credential(party, [], { ...claimed, ...more }), options);
};
/** A credential of each person with these claims on it. */
const each = (id: string, claims: readonly string[], more: JsonObject = {}, options?: Options): JsonObject[] =>
  people.map((party) => credential(`${id}-${party}`, party, claims, more, options));
/** An allow-list: a credential with claims on others. The issuer holds it by default. */
const list = (subjects: readonly string[], holder: string = issuer, more: JsonObject = {}, id = "list"): JsonObject =>
  element(
    "Credential",
    id,
    payload.credential(holder, [], { claims: subjects.map((one) => claimOn(one, "a=1")), ...more }),
  );

const isCredential = (one: JsonObject): boolean => JSON.stringify(one).includes("Credential:Credential");
const world = (requirements: JsonObject, ...credentials: readonly JsonObject[]): JsonObject[] => [
  ...groupElements("", {}, requirements),
  ...partyElements.filter((one) => !isCredential(one)),
  ...credentials,
];
const [one, two] = [needs(requirement(["a=1"])), needs(requirement(["a=1"]), requirement(["b=1"]))];

const rows = rowsOf("").table.filter(({ keys }) => keys.some((key) => key.endsWith("-credentials")));
/** The ledger reads nothing for a transfer to oneself. */
const others = rows.filter(({ name }) => !name.endsWith(", self"));
/** The people whose credentials stand in the answer. */
const peopleOf = (disclosed: readonly string[]): string[] =>
  people.filter((party) => disclosed.some((id) => id.startsWith(`${party}-holds`) || id.startsWith(`${party}-issues`)));
/** What a row discloses if the credentials of each of its people have these names. */
const listed = (disclosed: readonly string[], ...names: readonly string[]): string[] => {
  const own = names.flatMap((name) =>
    name === "list" ? name : peopleOf(disclosed).map((party) => `${name}-${party}`),
  );
  return [...disclosed.filter((id) => !/-(holds|issues)$/.test(id)), ...own].toSorted();
};

describe.each<[string, readonly JsonObject[], RulesOptions, readonly string[]]>([
  ["one for two requirements", [...each("a", ["a=1"]), ...each("b", ["b=1"]), ...each("c", ["a=1", "b=1"])], {}, ["c"]],
  ["one for each requirement", [...each("a", ["a=1"]), ...each("b", ["b=1"]), ...each("d", ["d=1"])], {}, ["a", "b"]],
  ["what there is if one is missing", each("a", ["a=1"]), {}, ["a"]],
  ["none if there is none", [], {}, []],
  [
    "all, also where they are required",
    [...each("a", ["a=1"]), ...each("b", ["b=1"])],
    CREDENTIALS_REQUIRED,
    ["a", "b"],
  ],
  [
    "one allow-list for all, which is disclosed once",
    [list([...people, registrar]), ...each("b", ["b=1"])],
    {},
    ["b", "list"],
  ],
])("the list has %s", (_what, credentials, options, names) => {
  const rules = rulesOn(world(two, ...credentials), options);

  test.each(rows)("$name", async ({ call, disclosed }) => {
    expect((await rules.context(call)).disclosed).toEqual(listed(disclosed, ...names));
  });
});

describe("where credentials are required, what is missing is named alone", () => {
  const half = rulesOn(world(two, ...each("a", ["a=1"])), CREDENTIALS_REQUIRED);

  test.each(others)("$name", async ({ call, disclosed }) => {
    const answer = await half.ask(call);
    expect(answer).toEqual(refused(404, ...peopleOf(disclosed), issuer, "b = 1"));
    expect(answer).not.toEqual(refused(404, "a = 1"));
  });

  test("but a transfer to oneself is answered", async () => {
    for (const { call } of rows.filter((row) => !others.includes(row)))
      expect(await half.ask(call)).toMatchObject({
        transferKind: "self",
        disclosed: ["a-alice", "factory", "rule", "usd"],
      });
  });
});

describe.each<[string, Options]>([
  ["on another synchronizer", { synchronizerId: "sync-B" }],
  ["unassigned", { moving: "unassigned" }],
  ["arriving", { moving: "arriving" }],
])("a conflict if a missing credential is %s", (_where, options) => {
  const rules = rulesOn(world(two, ...each("a", ["a=1"]), ...each("b", ["b=1"], {}, options)));

  test.each(others)("$name", async ({ call, disclosed }) => {
    const [first = ""] = peopleOf(disclosed);
    expect(await rules.ask(call)).toEqual(refused(409, first, "b = 1"));
  });
});

const offer = transferFactory("v1", transferV1("alice", "bob"));
const ofAlice = (id: string, claims: readonly string[], more: JsonObject = {}, options?: Options) =>
  credential(id, "alice", claims, more, options);
/** More: test/registry/credentials.test.ts. */
describe("the list of a party has", () => {
  const any = needs(requirement([]));
  const elsewhere: Options = { synchronizerId: "sync-B" };

  test.each<[string, JsonObject, readonly JsonObject[], readonly string[]]>([
    ["any of the issuer for a requirement without claims", any, [ofAlice("any", ["z=9"])], ["any"]],
    ["what the issuer holds for it", any, [list([])], ["list"]],
    ["none without requirements", needs(), [ofAlice("any", ["a=1"])], []],
    ["no allow-list that does not name it", one, [list(["bob", "carol"])], []],
    [
      "no conflict for one elsewhere that makes no missing claim",
      two,
      [ofAlice("a", ["a=1"]), ofAlice("b", ["a=1", "c=1"], {}, elsewhere)],
      ["a"],
    ],
  ])("%s", async (_what, requirements, credentials, ids) => {
    const { values } = await rulesOn(world(requirements, ...credentials)).context(offer);
    expect(values).toMatchObject(prefixed({ "sender-credentials": contractIds(...ids) }));
  });
});

test("burning and minting has what each owner has, in this order, and nothing of the registrar", async () => {
  const call = burnMintFactory(["bob", "alice", "carol", "bob"]);
  const have = [...each("b", ["b=1"]).slice(0, 2), ...each("a", ["a=1"]), credential("own", registrar, ["a=1"])];
  expect(await ask(world(two, ...have), call)).toMatchObject({
    values: prefixed({ "issuer-credentials": contractIds("a-bob", "b-bob", "a-alice", "b-alice", "a-carol") }),
    disclosed: ["a-alice", "a-bob", "a-carol", "b-alice", "b-bob", "factory", "usd"],
  });
  expect(await ask(world(two, ...have), call, CREDENTIALS_REQUIRED)).toEqual(refused(404, "carol", issuer, "b = 1"));
});
