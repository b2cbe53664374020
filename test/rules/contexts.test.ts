/** Changes of the table of operations by the contexts file: lines, keys, rewards, credentials, conditions, blocklists. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import { allocationFactory, settlementFactory } from "../fixtures/calls/operations.js";
import { contractId, map, prefixed } from "../fixtures/context.js";
import { elementOf, lines, rewardChanges } from "../fixtures/contexts.js";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import type { Call } from "../fixtures/protocols.js";
import { account, allocationV2, leg, legSide, settlement } from "../fixtures/requests.js";
import { ask } from "../fixtures/rules.js";
import { completeElements } from "../fixtures/operation-calls.js";
import { type Answer, changes, contexts, contextsOn, isExit, ofEach, operations } from "./every-context.js";
import { complete, without } from "./table.js";

/** A template and an entry of the operator. */
const shardEntry = lines(
  'templates: { shard: { package: example-blocklist, name: "Example.Blocklist:Shard" } }',
  "entries: { shard: { template: shard, find: { registrar: registrar } } }",
);
const shard = elementOf("example-blocklist#Example.Blocklist:Shard", "shard", { registrar: parties.registrar });
const SHARD = "utility.digitalasset.com/shard";
const shardOf = prefixed({ shard: contractId("shard") });

const identity = (answer: Answer): Answer => answer;
const isDisclosed = ({ disclosed = [] }: Answer): boolean => disclosed.includes("shard");
/** What every operation answers without a file. */
const before = contexts("").askAll(identity);
const eachAsBefore = async (of: (answer: Required<Pick<Answer, "values" | "disclosed">>, name: string) => Answer) =>
  Object.fromEntries(
    Object.entries(await before).map(([name, { values = {}, disclosed = [] }]) => [
      name,
      of({ values, disclosed }, name),
    ]),
  );

describe("lines", () => {
  test("an entry that is added stands in the operations of its change, and in no other", async () => {
    const added = operations.map((name) => `{ on: [${name}], add: [{ entry: shard, key: in/${name} }] }`);
    const answers = await contexts(shardEntry + changes(...added), {}, shard).askAll((answer) => ({
      values: Object.entries(answer.values ?? {}).filter(([key]) => key.startsWith("in/")),
      isDisclosed: isDisclosed(answer),
    }));
    expect(answers).toEqual(ofEach((name) => ({ values: [[`in/${name}`, contractId("shard")]], isDisclosed: true })));
  });

  test("a disclosure that is added stands in every operation, without a value", async () => {
    const answers = await contexts(shardEntry + changes("add: [{ disclosure: shard }]"), {}, shard).askAll(identity);
    expect(answers).toEqual(
      await eachAsBefore(({ values, disclosed }) => ({ values, disclosed: [...disclosed, "shard"].toSorted() })),
    );
  });

  test("every built-in line can be removed", async () => {
    const names = [
      "instrument-configuration, instrument-configurations, transfer-rule, enable-result-contracts",
      "sender-credentials, receiver-credentials, issuer-credentials, holder-credentials",
      "factory, locked-holding, allocations, allocation-holdings, no-blocklist",
    ];
    const answers = await contexts(changes(`remove: [${names.join(", ")}]`)).askAll(identity);
    expect(answers).toEqual(ofEach(() => ({ values: {}, disclosed: [] })));
  });

  test("a line is removed from the operations of its change alone, with what it disclosed", async () => {
    const file = changes("{ on: [transfer-instruction/*], remove: [enable-result-contracts, locked-holding] }");
    const none = { values: {}, disclosed: [] };
    const changed = contexts(file);
    expect(await changed.askFor("transfer-instruction/reject")).toEqual(none);
    expect(await changed.askFor("allocation/withdraw")).toEqual({ values: {}, disclosed: ["locked"] });
    expect(await changed.askFor("mint-offer/reject")).toEqual((await before)["mint-offer/reject"]);
  });

  test.each<[string, string, JsonObject]>([
    ["prefixed by default", "", shardOf],
    ["bare too", ", key: [utility.digitalasset.com/*, '*']", { ...shardOf, shard: contractId("shard") }],
    ["one in full", ", key: own.example/shard", { "own.example/shard": contractId("shard") }],
    ["three in full", ", key: [a, b, c]", { a: contractId("shard"), b: contractId("shard"), c: contractId("shard") }],
  ])("keys are %s", async (_what, keys, values) => {
    const file = shardEntry + changes(`{ on: [mint-offer/cancel], add: [{ entry: shard${keys} }] }`);
    expect(await contexts(file, {}, shard).askFor("mint-offer/cancel")).toEqual({ values, disclosed: ["shard"] });
  });

  test("an operation may get an entry that others have", async () => {
    const file = changes("{ on: [mint-offer/cancel], add: [{ entry: transfer-rule }] }");
    const values = prefixed({ "transfer-rule": contractId("rule") });
    expect(await contexts(file).askFor("mint-offer/cancel")).toEqual({ values, disclosed: ["rule"] });
  });
});

describe("rewards", () => {
  const both = prefixed({
    "app-reward-configuration": contractId("reward"),
    "featured-app-right": contractId("right"),
  });
  const rewarded =
    /^(?:transfer-factory\/(?:direct|self)|settlement-factory|burn-mint-factory|allocation\/execute-transfer|.*\/accept)$/;

  test("are in the operations that may have them", async () => {
    expect(await contexts(JSON.stringify({ changes: rewardChanges() })).askAll(identity)).toEqual(
      await eachAsBefore((answer, name) =>
        rewarded.test(name)
          ? { values: { ...answer.values, ...both }, disclosed: [...answer.disclosed, "reward", "right"].toSorted() }
          : answer,
      ),
    );
    expect(operations.filter((name) => rewarded.test(name))).toHaveLength(10);
  });

  // A package that is not listed counts as current.
  test.each([
    ["pkg-1", true],
    ["pkg-2", false],
    ["pkg-3", false],
  ])("are there for old packages alone, if the change says so: %s", async (packageId, isThere) => {
    const old = { if: { package: "utility-registry-app-v0", before: "0.7.0" } };
    const file = JSON.stringify({ packages: { "pkg-1": "0.6.0", "pkg-2": "0.7.0" }, changes: rewardChanges(old) });
    const offer = element("MintOffer", "mint-offer", payload.mint("alice", "USD"), { packageId });
    const { values = {} } = await contextsOn(file, [...without("mint-offer", completeElements()), offer]).askFor(
      "mint-offer/accept",
    );
    expect("utility.digitalasset.com/featured-app-right" in values).toBe(isThere);
  });
});

const missing = (party: string, claim = "holds"): Answer => ({
  status: 404,
  message: `a valid credential for ${party} from issuer ${parties.issuer} with the claim ${claim} = USD does not exist`,
});

const required = 'set: { entry: "*-credentials", missing: refuse }';
const since = (version: string): string =>
  lines("packages:", `  pkg-1: "${version}"`) +
  changes(`{ ${required}, if: { package: utility-registry-app-v0, from: "0.8.0" } }`);

describe("credentials", () => {
  const answered = expect.objectContaining({ disclosed: expect.any(Array) as unknown }) as Answer;
  const issuing = payload.configuration("USD", { issuerRequirements: [requirement(["issues=USD"])] });
  const configuration = element("InstrumentConfiguration", "usd", issuing);
  const [noAlice, noBob] = [{ alice: undefined }, { bob: undefined }];
  const toLeave = "{ on: [transfer-instruction/reject], add: [{ entry: sender-credentials }] }";
  const optional = `{ on: [transfer-*], ${required.replace("refuse", "omit")} }`;

  test.each<[string, Parameters<typeof contexts>, string, Answer]>([
    ["are optional", ["", noAlice], "settlement-factory", answered],
    ["are required of a sender", [changes(required), noAlice], "transfer-factory/offer", missing("alice")],
    ["are required of a receiver", [changes(required), noBob], "transfer-instruction/accept", missing("bob")],
    ["are required of holders", [changes(required), noBob], "settlement-factory", missing("bob")],
    [
      "are required of issuers",
      [changes(required), { configuration }],
      "mint-offer/create",
      missing("alice", "issues"),
    ],
    ["are required of owners", [changes(required), { configuration }], "burn-mint-factory", missing("alice", "issues")],
    ["are never required to leave", [changes(required, toLeave), noAlice], "transfer-instruction/reject", answered],
    [
      "are optional again by a later change",
      [changes(required, optional), noAlice],
      "transfer-instruction/accept",
      answered,
    ],
    ["are so in its operations alone", [changes(required, optional), noAlice], "settlement-factory", missing("alice")],
    ["are optional where the condition is not met", [since("0.7.0"), noAlice], "transfer-factory/offer", answered],
    ["are required where it is", [since("0.8.0"), noAlice], "transfer-factory/offer", missing("alice")],
  ])("%s", async (_what, args, operation, expected) => {
    expect(await contexts(...args).askFor(operation)).toEqual(expected);
  });
});

const legOf = (id: string): JsonObject => leg(account("alice"), account("bob"), id);
const settled = (...instruments: readonly string[]): Call => settlementFactory(settlement(instruments.map(legOf), []));
const configuration = (id: string, instrument: string, more: JsonObject = {}) =>
  element("InstrumentConfiguration", id, payload.configuration(instrument, more));
const checking = { checkBlocklist: true };
const eur = configuration("eur", "EUR", checking);
const problem = (instrument: string): string =>
  `instrument "${instrument}" of registrar registrar::1220 has checkBlocklist set, but this service has no blocklist to ` +
  "disclose for this operation, so the choice would fail: the operator can add one in OFFLEDGER_CONTEXTS";

describe("an instrument that checks a blocklist", () => {
  const usd = { configuration: configuration("usd", "USD", checking) };
  const change = changes("{ remove: [no-blocklist], add: [{ entry: shard, missing: omit, if: check-blocklist }] }");

  test("is a bad request without a blocklist, except to leave", async () => {
    expect(await contexts("", usd).askAll(({ message }) => message)).toEqual(
      ofEach((name) => (isExit(name) ? undefined : problem("USD"))),
    );
  });

  test("is answered with a line for it, and the entry is there; others do not get it", async () => {
    const found = (answer: Answer) => [answer.values?.[SHARD], isDisclosed(answer)];
    expect(await contexts(shardEntry + change, usd, shard).askAll(found)).toEqual(
      ofEach(() => [contractId("shard"), true]),
    );
    expect(await contexts(shardEntry + change, {}, shard).askAll(isDisclosed)).toEqual(ofEach(() => false));
  });

  test("a line for it in one operation leaves the others 400", async () => {
    const file = changes(
      "{ on: [settlement-factory], remove: [no-blocklist], add: [{ disclosure: shard, if: check-blocklist }] }",
    );
    const some = contexts(shardEntry + file, usd, shard);
    expect(isDisclosed(await some.askFor("settlement-factory"))).toBe(true);
    expect(await some.askFor("transfer-factory/offer")).toMatchObject({ status: 400 });
  });

  test("one of several instruments is enough", async () => {
    const some = contexts(shardEntry + change, {}, shard, eur);
    expect(isDisclosed(await some.ask(settled("USD")))).toBe(false);
    expect(isDisclosed(await some.ask(settled("USD", "EUR")))).toBe(true);
  });

  const both = [...complete(), eur, configuration("chf", "CHF", checking)];
  const sides = [legSide("SenderSide", "EUR"), legSide("ReceiverSide", "CHF")];
  const named = `${problem("EUR")}; ${problem("CHF")}`;
  const noRule = "the TransferRule of registrar registrar::1220 does not exist";

  // The model has extra sides and funding, and which configuration counts.
  test.each<[string, readonly JsonObject[], Call, JsonObject]>([
    ["each of a settlement", both, settled("USD", "EUR", "CHF", "EUR"), { status: 400, message: named }],
    [
      "each of an allocation",
      both,
      allocationFactory("v2", allocationV2(account("alice"), sides)),
      { status: 400, message: named },
    ],
    [
      "after what is missing",
      without("rule", both),
      settled("EUR", "CHF"),
      { status: 404, message: `${noRule}; ${named}` },
    ],
  ])("is named: %s", async (_what, elements, call, expected) => {
    expect(await ask(elements, call)).toEqual(expected);
  });
});

test("several-instruments holds for more than one", async () => {
  const file = shardEntry + changes("{ on: [settlement-factory], add: [{ entry: shard, if: several-instruments }] }");
  const some = contexts(file, {}, shard, configuration("eur", "EUR"));
  expect((await some.ask(settled("USD", "USD"))).values).not.toHaveProperty([SHARD]);
  expect((await some.ask(settled("USD", "EUR"))).values).toMatchObject(
    prefixed({
      shard: contractId("shard"),
      "instrument-configurations": map({ USD: contractId("usd"), EUR: contractId("eur") }),
    }),
  );
});

/** A line under a key of its own. */
const lineFor = (condition: string, index: number): string =>
  `      - { entry: shard, key: c${index}, if: { package: utility-registry-app-v0, ${condition} } }`;

const ownKeys = ({ values = {} }: Answer) => Object.keys(values).filter((key) => key === "app" || key === "registry");

describe("a condition on a package", () => {
  const conditions = [
    "from: '0.7.0'",
    "before: '0.7.0'",
    "from: '0.7.0', before: '0.8.0'",
    "from: '0.7.1'",
    "before: '0.10.0'",
    "from: '0.7', before: '0.7.0.1'",
  ];
  const file = (version: string): string =>
    shardEntry +
    lines("packages:", `  pkg-0: "${version}"`, "changes:", "  - on: [mint-offer/cancel]", "    add:") +
    lines(...conditions.map(lineFor));

  test.each<[string, string, string, number[]]>([
    ["a listed version", "pkg-0", "0.7.0", [0, 2, 4, 5]],
    ["one with fewer numbers", "pkg-0", "0.7", [0, 2, 4, 5]],
    ["an older one", "pkg-0", "0.6.9", [1, 4]],
    ["a newer one", "pkg-0", "0.8.0", [0, 3, 4]],
    ["one that is newer as a number, not as a text", "pkg-0", "0.10.0", [0, 3]],
    ["one with more numbers", "pkg-0", "0.7.0.2", [0, 2, 4]],
    ["a package that is not listed, as current", "pkg-9", "0.7.0", [0, 3]],
  ])("is met by %s", async (_what, packageId, version, expected) => {
    const instruction = element("MintOffer", "mint-offer", payload.mint("alice", "USD"), { packageId });
    const { values = {} } = await contextsOn(file(version), [instruction, shard]).askFor("mint-offer/cancel");
    expect(Object.keys(values)).toEqual(expected.map((index) => `c${index}`));
  });

  test("is about the factory or the instruction, by its package", async () => {
    const add = [
      'entry: shard, key: app, if: { package: utility-registry-app-v0, from: "0.1" }',
      'entry: shard, key: registry, if: { package: utility-registry-v0, from: "0.1" }',
    ];
    const some = contexts(shardEntry + changes(`add: [${add.map((line) => `{ ${line} }`).join(", ")}]`), {}, shard);
    expect(await some.askAll(ownKeys)).toEqual(
      ofEach((name) => (name.startsWith("allocation/") ? ["registry"] : ["app"])),
    );
  });
});
