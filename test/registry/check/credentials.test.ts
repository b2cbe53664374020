/** Credentials that end soon: which are warned of, for whom and for which instrument. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/json.js";
import { Decoder } from "../../../src/ledger/decode.js";
import { parseSnapshot } from "../../../src/ledger/file/snapshot.js";
import type { Warning } from "../../../src/registry/sdk/registry.js";
import { utilityRegistry } from "../../../src/registry/utility/index.js";
import { MIN_SETTLEMENT_LIMITS } from "../../../src/registry/utility/allocation.js";
import { MemoryStore } from "../../../src/store/memory/memory-store.js";
import { element, type Options, parties, payload, requirement } from "../../fixtures/elements.js";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const registry = utilityRegistry({ settlementLimits: MIN_SETTLEMENT_LIMITS });
const base = [
  element("AllocationFactory", "factory", payload.service()),
  element("TransferRule", "rule", payload.service()),
];
const needs = (...claims: readonly string[]) => ({ holderRequirements: [requirement(claims)] });
const configuration = (id: string, more: JsonObject) =>
  element("InstrumentConfiguration", `configuration of ${id}`, payload.configuration(id, more));
const credential = (id: string, party: string, claims: readonly string[], more: JsonObject = {}, options?: Options) =>
  element("Credential", id, payload.credential(party, claims, more), options);

async function warnings(elements: readonly JsonObject[], credentialDays = 30): Promise<Warning[]> {
  const file = [...base, ...elements].map((one) => `${JSON.stringify(one)}\n`).join("");
  const { contracts, problems } = parseSnapshot(file, new Decoder(registry.templates));
  expect(problems).toEqual([]);
  const store = new MemoryStore();
  await store.replace(contracts, 10);
  const found = store.read((view) => registry.inventory(view, { now: NOW, credentialDays })).warnings;
  return found.filter((one) => typeof one !== "string").filter(({ kind }) => kind === "credential-expires");
}

const idsOf = async (...given: Parameters<typeof warnings>) =>
  (await warnings(...given)).map(({ contractId }) => contractId);
const usd = configuration("USD", needs("holds=USD"));
const until = (validUntil: string) => credential("c", "alice", ["holds=USD"], { validUntil });

describe("the time", () => {
  test.each<[string, string, number, string[]]>([
    ["ends now", "2026-06-01T00:00:00Z", 30, []],
    ["ends a microsecond later", "2026-06-01T00:00:00.000001Z", 30, ["c"]],
    ["ends at the end of the last day", "2026-07-01T00:00:00Z", 30, ["c"]],
    ["ends a microsecond after the last day", "2026-07-01T00:00:00.000001Z", 30, []],
    ["has ended", "2026-05-31T00:00:00Z", 30, []],
    ["with more days", "2026-08-01T00:00:00Z", 90, ["c"]],
    ["switched off", "2026-06-02T00:00:00Z", 0, []],
  ])("%s", async (_name, validUntil, days, expected) => {
    expect(await idsOf([usd, until(validUntil)], days)).toEqual(expected);
  });

  test("a credential without an end", async () => {
    expect(await idsOf([usd, credential("c", "alice", ["holds=USD"])])).toEqual([]);
  });

  test.each([
    ["2026-06-01T06:00:00Z", "in 1 day."],
    ["2026-06-02T00:00:00Z", "in 1 day."],
    ["2026-06-03T12:00:00Z", "in 3 days."],
  ])("the message for %s says %s", async (validUntil, says) => {
    const [warning] = await warnings([usd, until(validUntil)]);
    expect(warning?.problem).toContain(says);
  });
});

const soon = { validUntil: "2026-06-11T00:00:00Z" };

describe("a credential that nobody will miss", () => {
  test.each<[string, JsonObject[]]>([
    ["no instrument requires its claim", [usd, credential("c", "alice", ["holds=EUR"], soon)]],
    ["no instrument requires its issuer", [usd, credential("c", "alice", ["holds=USD"], { ...soon, issuer: "other" })]],
    [
      "another lasts longer",
      [usd, credential("c", "alice", ["holds=USD"], soon), credential("d", "alice", ["holds=USD"])],
    ],
    [
      "another makes the claim with others",
      [usd, credential("c", "alice", ["holds=USD"], soon), credential("d", "alice", ["holds=USD", "a=b"])],
    ],
    [
      "the issuer keeps an allow-list",
      [
        usd,
        credential("c", "alice", ["holds=USD"], soon),
        credential("d", parties.issuer, [], { claims: [{ subject: "alice", property: "holds", value: "USD" }] }),
      ],
    ],
    [
      "another begins before it ends",
      [
        usd,
        credential("c", "alice", ["holds=USD"], soon),
        credential("d", "alice", ["holds=USD"], { validFrom: "2026-06-10T00:00:00Z" }),
      ],
    ],
    [
      "it makes one of two claims that one credential has to make",
      [
        configuration("USD", needs("holds=USD", "resides=NO")),
        credential("c", "alice", ["resides=NO"], soon),
        credential("d", "alice", ["holds=USD"]),
      ],
    ],
    ["it is in reassignment", [usd, credential("c", "alice", ["holds=USD"], soon, { moving: "unassigned" })]],
    [
      "the party lacks its claim even now",
      [usd, credential("c", "alice", ["holds=USD"], { ...soon, validFrom: "2026-06-05T00:00:00Z" })],
    ],
  ])("%s", async (_name, elements) => {
    expect(await idsOf(elements)).toEqual([]);
  });
});

const claimsOnMany = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    subject: `party-${String(index).padStart(6, "0")}`,
    property: "holds",
    value: "USD",
  }));

describe("a credential that is missed", () => {
  test.each<[string, JsonObject[], string[]]>([
    [
      "another ends soon too: the last one counts",
      [
        usd,
        credential("c", "alice", ["holds=USD"], soon),
        credential("d", "alice", ["holds=USD"], { validUntil: "2026-06-20T00:00:00Z" }),
      ],
      ["d"],
    ],
    [
      "another begins when it has ended",
      [
        usd,
        credential("c", "alice", ["holds=USD"], soon),
        credential("d", "alice", ["holds=USD"], { validFrom: "2026-06-12T00:00:00Z" }),
      ],
      ["c"],
    ],
    [
      "another is on another synchronizer",
      [
        usd,
        credential("c", "alice", ["holds=USD"], soon),
        credential("d", "alice", ["holds=USD"], {}, { synchronizerId: "sync-B" }),
      ],
      ["c"],
    ],
    [
      "it makes the claims of one of two requirements",
      [
        configuration("USD", { holderRequirements: [requirement(["holds=USD"]), requirement(["resides=NO"])] }),
        credential("c", "alice", ["resides=NO"], soon),
        credential("d", "alice", ["holds=USD"]),
      ],
      ["c"],
    ],
    [
      "another makes one of the two claims that one credential has to make",
      [
        configuration("USD", needs("holds=USD", "resides=NO")),
        credential("c", "alice", ["holds=USD", "resides=NO"], soon),
        credential("d", "alice", ["holds=USD"]),
        credential("e", "alice", ["resides=NO"]),
      ],
      ["c"],
    ],
  ])("%s", async (_name, elements, expected) => {
    expect(await idsOf(elements)).toEqual(expected);
  });

  test("holders and issuers need it for different operations", async () => {
    const issuers = { issuerRequirements: [requirement(["issues=USD"])] };
    const elements = [
      configuration("USD", { ...needs("holds=USD"), ...issuers }),
      credential("held", "alice", ["holds=USD"], soon),
      credential("issued", "alice", ["issues=USD"], soon),
    ];
    const byId = new Map((await warnings(elements)).map((warning) => [warning.contractId, warning]));
    expect(byId.get("held")?.operations).toEqual([
      "transfer-factory/offer",
      "transfer-factory/direct",
      "allocation-factory",
      "settlement-factory",
      "transfer-instruction/accept",
      "allocation/execute-transfer",
    ]);
    expect(byId.get("issued")?.operations).toEqual([
      "mint-offer/create",
      "mint-request/create",
      "burn-offer/create",
      "burn-request/create",
      "burn-mint-factory",
      "mint-offer/accept",
      "mint-request/accept",
      "burn-offer/accept",
      "burn-request/accept",
    ]);
    expect(byId.get("issued")).toMatchObject({ party: "alice", instrument: "USD", registrar: parties.registrar });
    expect(byId.get("issued")?.problem).toContain(
      'From then on alice does not meet the requirements on the issuer of instrument "USD"',
    );
  });

  test("several instruments and parties are counted in one warning", async () => {
    const subjects = ["alice", "bob", "carol"].map((subject) => ({ subject, property: "holds", value: "USD" }));
    const elements = [
      usd,
      configuration("EUR", needs("holds=USD")),
      configuration("GBP", needs("other=GBP")),
      credential("list", parties.issuer, [], { ...soon, claims: subjects }),
      credential("own", "bob", ["holds=USD"]),
    ];
    const found = await warnings(elements);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ contractId: "list", party: "alice" });
    expect(found[0]?.problem).toContain("From then on alice and 1 more do not meet the requirements on the holder");
    expect(found[0]?.problem).toMatch(/of registrar registrar::1220 and of 1 more$/);
  });

  test("of an allow-list, the first 100 subjects are examined", async () => {
    const replaced = credential("new", parties.issuer, [], { claims: claimsOnMany(100) });
    const ending = (count: number) => credential("old", parties.issuer, [], { ...soon, claims: claimsOnMany(count) });
    expect(await idsOf([usd, ending(100), replaced])).toEqual([]);
    expect(await idsOf([usd, ending(20_000), replaced])).toEqual([]);
    expect(await idsOf([usd, ending(20_000)])).toEqual(["old"]);
  });
});
