/** Credentials that end soon: which are warned of, for whom and for which instrument. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/util/json.js";
import { scanWarnings } from "../../../src/registry/check/scan.js";
import { element, type Options, parties, payload, requirement } from "../../fixtures/elements.js";
import { storeOf, utility } from "../../fixtures/in-memory.js";

const { issuer, registrar } = parties;
const base = ["AllocationFactory", "TransferRule"] as const;
const needs = (...claims: readonly string[]) => ({ holderRequirements: [requirement(claims)] });
const configured = (id: string, more: JsonObject) =>
  element("InstrumentConfiguration", `configuration of ${id}`, payload.configuration(id, more));
const held = (id: string, claims: readonly string[], more: JsonObject = {}, options?: Options) =>
  element("Credential", id, payload.credential("alice", claims, more), options);

async function warningsOf(elements: readonly JsonObject[], credentialDays = 30) {
  const store = await storeOf([...base.map((name) => element(name, name, payload.service())), ...elements]);
  const now = () => Date.parse("2026-06-01T00:00:00Z");
  const { found } = await scanWarnings(store, utility.checks ?? [], { now, credentialDays });
  return found.warnings().filter(({ kind }) => kind === "credential-expires");
}
const idsOf = async (...given: Parameters<typeof warningsOf>) =>
  (await warningsOf(...given)).map(({ contractId }) => contractId);

const usd = configured("USD", needs("holds=USD"));
const twoClaims = configured("USD", needs("holds=USD", "resides=NO"));

describe("the time", () => {
  test.each([
    ["ends now", "2026-06-01T00:00:00Z", 30, false],
    ["ends a microsecond later", "2026-06-01T00:00:00.000001Z", 30, true],
    ["ends at the end of the last day", "2026-07-01T00:00:00Z", 30, true],
    ["ends a microsecond after the last day", "2026-07-01T00:00:00.000001Z", 30, false],
    ["has ended", "2026-05-31T00:00:00Z", 30, false],
    ["has no end", null, 30, false],
    ["with more days", "2026-08-01T00:00:00Z", 90, true],
    ["switched off", "2026-06-02T00:00:00Z", 0, false],
  ])("%s", async (_name, validUntil, days, isWarned) => {
    expect(await idsOf([usd, held("c", ["holds=USD"], { validUntil })], days)).toEqual(isWarned ? ["c"] : []);
  });

  test.each([
    ["2026-06-01T06:00:00Z", "in 1 day."],
    ["2026-06-02T00:00:00Z", "in 1 day."],
    ["2026-06-03T12:00:00Z", "in 3 days."],
  ])("the message for %s says %s", async (validUntil, says) => {
    const [warning] = await warningsOf([usd, held("c", ["holds=USD"], { validUntil })]);
    expect(warning?.problem).toContain(says);
  });
});

const soon = { validUntil: "2026-06-11T00:00:00Z" };
const ending = held("c", ["holds=USD"], soon);
const claim = (subject: string) => ({ subject, property: "holds", value: "USD" });
const list = (id: string, subjects: readonly string[], more: JsonObject = {}) =>
  element("Credential", id, payload.credential(issuer, [], { ...more, claims: subjects.map(claim) }));

describe("a credential of the holder", () => {
  test.each<[string, JsonObject[]]>([
    ["no instrument requires its claim", [usd, held("c", ["holds=EUR"], soon)]],
    ["no instrument requires its issuer", [usd, held("c", ["holds=USD"], { ...soon, issuer: "other" })]],
    ["another lasts longer", [usd, ending, held("d", ["holds=USD"])]],
    ["another makes the claim with others", [usd, ending, held("d", ["holds=USD", "a=b"])]],
    ["the issuer keeps an allow-list", [usd, ending, list("d", ["alice"])]],
    ["another begins before", [usd, ending, held("d", ["holds=USD"], { validFrom: "2026-06-10T00:00:00Z" })]],
    ["one must make both claims", [twoClaims, held("c", ["resides=NO"], soon), held("d", ["holds=USD"])]],
    ["it is in reassignment", [usd, held("c", ["holds=USD"], soon, { moving: "unassigned" })]],
    ["its claim is lacking now", [usd, held("c", ["holds=USD"], { ...soon, validFrom: "2026-06-05T00:00:00Z" })]],
  ])("is not missed: %s", async (_name, elements) => {
    expect(await idsOf(elements)).toEqual([]);
  });

  const either = { holderRequirements: [requirement(["holds=USD"]), requirement(["resides=NO"])] };
  test.each<[string, JsonObject[], string[]]>([
    ["another ends soon too", [usd, ending, held("d", ["holds=USD"], { validUntil: "2026-06-20T00:00:00Z" })], ["d"]],
    ["another begins after", [usd, ending, held("d", ["holds=USD"], { validFrom: "2026-06-12T00:00:00Z" })], ["c"]],
    ["another is elsewhere", [usd, ending, held("d", ["holds=USD"], {}, { synchronizerId: "sync-B" })], ["c"]],
    [
      "it meets one of two requirements",
      [configured("USD", either), held("c", ["resides=NO"], soon), held("d", ["holds=USD"])],
      ["c"],
    ],
    [
      "others make one claim each",
      [twoClaims, held("c", ["holds=USD", "resides=NO"], soon), held("d", ["holds=USD"]), held("e", ["resides=NO"])],
      ["c"],
    ],
  ])("is missed: %s", async (_name, elements, expected) => {
    expect(await idsOf(elements)).toEqual(expected);
  });
});

test("holders and issuers need it for different operations", async () => {
  const both = { ...needs("holds=USD"), issuerRequirements: [requirement(["issues=USD"])] };
  const elements = [configured("USD", both), held("held", ["holds=USD"], soon), held("issued", ["issues=USD"], soon)];
  const byId = new Map((await warningsOf(elements)).map((warning) => [warning.contractId, warning]));
  const factories = ["transfer-factory/offer", "transfer-factory/direct", "allocation-factory", "settlement-factory"];
  const choices = ["transfer-instruction/accept", "allocation/execute-transfer"];
  expect(byId.get("held")?.operations).toEqual([...factories, ...choices]);
  const instructions = ["mint-offer", "mint-request", "burn-offer", "burn-request"];
  const [creations, accepts] = ["create", "accept"].map((name) => instructions.map((one) => `${one}/${name}`));
  expect(byId.get("issued")).toMatchObject({
    party: "alice",
    instrument: "USD",
    registrar,
    operations: [...(creations ?? []), "burn-mint-factory", ...(accepts ?? [])],
    problem: expect.stringContaining(
      'From then on alice does not meet the requirements on the issuer of instrument "USD"',
    ) as string,
  });
});

test("several instruments and parties are counted in one warning", async () => {
  const own = element("Credential", "own", payload.credential("bob", ["holds=USD"]));
  const others = [configured("EUR", needs("holds=USD")), configured("GBP", needs("other=GBP"))];
  const found = await warningsOf([usd, ...others, list("list", ["alice", "bob", "carol"], soon), own]);
  expect(found).toMatchObject([{ contractId: "list", party: "alice" }]);
  expect(found[0]?.problem).toContain("From then on alice and 1 more do not meet the requirements on the holder");
  expect(found[0]?.problem).toMatch(/of registrar registrar::1220 and of 1 more$/);
});

test("of an allow-list, the first 100 subjects are examined", async () => {
  const subjects = (count: number) =>
    Array.from({ length: count }, (_, index) => `party-${String(index).padStart(6, "0")}`);
  const replaced = list("new", subjects(100));
  expect(await idsOf([usd, list("old", subjects(100), soon), replaced])).toEqual([]);
  expect(await idsOf([usd, list("old", subjects(20_000), soon), replaced])).toEqual([]);
  expect(await idsOf([usd, list("old", subjects(20_000), soon)])).toEqual(["old"]);
});
