/** Changes of the table of operations by the contexts file, over REST and gRPC. */
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { contractId, contractIds, map, prefixed } from "../fixtures/context.js";
import { contextsFile, elementOf, lines } from "../fixtures/contexts.js";
import { element, parties, payload, requirement } from "../fixtures/elements.js";
import { serving } from "../fixtures/registries.js";
import { account, leg } from "../fixtures/requests.js";
import type { Running } from "../fixtures/run-service.js";
import {
  ask,
  askAll,
  askFor,
  disclosedBy,
  isExit,
  ofEach,
  operations,
  registryWithInstructions,
  settle,
  valuesOf,
} from "../fixtures/utility-calls.js";

const SHARD = "example-blocklist#Example.Blocklist:Shard";
const shardEntry = lines(
  "entries:",
  "  shard:",
  '    template: { package: example-blocklist, name: "Example.Blocklist:Shard" }',
  "    find: [{ field: registrar, is: registrar }]",
  "    value: contract-id",
);
const shard = elementOf(SHARD, "shard", { registrar: parties.registrar });

/** Serves the registry with a contexts file until the test ends. */
async function servingWith(contexts: string, ...args: Parameters<typeof registryWithInstructions>): Promise<Running> {
  return serving(registryWithInstructions(...args), { config: { contexts: await contextsFile(contexts) } });
}

const legOf = (id: string): JsonObject => leg(account("alice"), account("bob"), id);
const identity = (answer: JsonObject): JsonObject => answer;
const codeOf = (answer: JsonObject): JsonValue => answer["code"] ?? "";

describe("lines", () => {
  test("an entry that is added stands in the operations of its change, and in no other", async () => {
    const changes = operations.map(
      (name) => `  - { operations: [${name}], add: [{ entry: shard, keys: [in/${name}] }] }`,
    );
    const running = await servingWith(shardEntry + lines("changes:", ...changes), {}, shard);
    const added = await askAll(running, (answer) => ({
      values: Object.entries(valuesOf(answer)).filter(([key]) => key.startsWith("in/")),
      isDisclosed: disclosedBy(answer).includes("shard"),
    }));
    expect(added).toEqual(ofEach((name) => ({ values: [[`in/${name}`, contractId("shard")]], isDisclosed: true })));
  });

  test("a disclosure that is added stands in every operation, without a value", async () => {
    const before = await askAll(await servingWith(""), identity);
    const running = await servingWith(shardEntry + lines("changes:", "  - add: [{ disclosure: shard }]"), {}, shard);
    const expected = Object.entries(before).map(([name, answer]) => [
      name,
      { values: answer["values"], disclosed: [...disclosedBy(answer), "shard"].toSorted() },
    ]);
    expect(await askAll(running, identity)).toEqual(Object.fromEntries(expected));
  });

  test("every built-in line can be removed", async () => {
    const names = [
      "instrument-configuration, instrument-configurations, transfer-rule, enable-result-contracts",
      "sender-credentials, receiver-credentials, issuer-credentials, holder-credentials",
      "factory, locked-holding, allocations, allocation-holdings",
    ];
    const running = await servingWith(lines("changes:", `  - remove: [${names.join(", ")}]`));
    expect(await askAll(running, identity)).toEqual(ofEach(() => ({ values: {}, disclosed: [] })));
  });

  test("a line is removed from the operations of its change alone, and what it disclosed is not disclosed", async () => {
    const running = await servingWith(
      lines(
        "changes:",
        "  - operations: [transfer-instruction/*]",
        "    remove: [enable-result-contracts, locked-holding]",
      ),
    );
    expect(await askFor(running, "transfer-instruction/reject")).toEqual({ values: {}, disclosed: [] });
    expect(await askFor(running, "allocation/withdraw")).toEqual({ values: {}, disclosed: ["locked"] });
    expect(Object.keys(valuesOf(await askFor(running, "mint-offer/reject")))).toEqual([
      "utility.digitalasset.com/enable-result-contracts",
    ]);
  });

  test.each<[string, string, JsonObject]>([
    ["prefixed by default", "", prefixed({ shard: contractId("shard") })],
    ["prefixed", ", keys: prefixed", prefixed({ shard: contractId("shard") })],
    ["both", ", keys: both", { ...prefixed({ shard: contractId("shard") }), shard: contractId("shard") }],
    ["one in full", ", keys: [own.example/shard]", { "own.example/shard": contractId("shard") }],
    ["three in full", ", keys: [a, b, c]", { a: contractId("shard"), b: contractId("shard"), c: contractId("shard") }],
  ])("keys are %s", async (_what, keys, values) => {
    const change = lines("changes:", `  - { operations: [mint-offer/cancel], add: [{ entry: shard${keys} }] }`);
    const running = await servingWith(shardEntry + change, {}, shard);
    expect(await askFor(running, "mint-offer/cancel")).toEqual({ values, disclosed: ["shard"] });
  });

  test("an operation may get an entry that others have", async () => {
    const running = await servingWith(
      lines("changes:", "  - { operations: [mint-offer/cancel], add: [{ entry: transfer-rule }] }"),
    );
    expect(await askFor(running, "mint-offer/cancel")).toEqual({
      values: prefixed({ "transfer-rule": contractId("rule") }),
      disclosed: ["rule"],
    });
  });
});

describe("rewards", () => {
  const both = { "app-reward-configuration": contractId("reward"), "featured-app-right": contractId("right") };
  const rewarded = new Set([
    "transfer-factory/direct",
    "transfer-factory/self",
    "settlement-factory",
    "burn-mint-factory",
    "transfer-instruction/accept",
    "allocation/execute-transfer",
    "mint-offer/accept",
    "mint-request/accept",
    "burn-offer/accept",
    "burn-request/accept",
  ]);

  test("are in the operations that may have them", async () => {
    const before = await askAll(await servingWith(""), identity);
    const running = await servingWith(lines("changes:", "  - rewards: true"));
    const expected = Object.entries(before).map(([name, answer]) => {
      if (!rewarded.has(name)) return [name, answer];
      const disclosed = [...disclosedBy(answer), "reward", "right"].toSorted();
      return [name, { values: { ...valuesOf(answer), ...prefixed(both) }, disclosed }];
    });
    expect(await askAll(running, identity)).toEqual(Object.fromEntries(expected));
  });

  test("are there for old packages alone, if the change says so", async () => {
    const contexts = lines(
      "packages:",
      '  pkg-1: "0.6.0"',
      '  pkg-2: "0.7.0"',
      "changes:",
      "  - rewards: true",
      '    when: { package: utility-registry-app-v0, before: "0.7.0" }',
    );
    const accepted = async (packageId: string) => {
      const mintOffer = element("MintOffer", "mint-offer", payload.mint("alice", "USD"), { packageId });
      const others = registryWithInstructions().filter((one) => !JSON.stringify(one).includes(":MintOffer"));
      const running = await serving([...others, mintOffer], { config: { contexts: await contextsFile(contexts) } });
      return Object.keys((await askFor(running, "mint-offer/accept"))["values"] as JsonObject);
    };
    expect(await accepted("pkg-1")).toContain("utility.digitalasset.com/featured-app-right");
    expect(await accepted("pkg-2")).not.toContain("utility.digitalasset.com/featured-app-right");
    // One that is not listed counts as current.
    expect(await accepted("pkg-3")).not.toContain("utility.digitalasset.com/featured-app-right");
  });
});

const missing = (party: string): string =>
  `a valid credential for ${party} from issuer ${parties.issuer} with the claim holds = USD does not exist`;

describe("credentials", () => {
  test.each<[string, string, string]>([
    ["transfer-factory/offer", "alice", "sender"],
    ["transfer-instruction/accept", "bob", "receiver"],
    ["settlement-factory", "bob", "holder"],
    ["allocation/execute-transfer", "alice", "sender"],
  ])("required: %s without that of %s is 404", async (operation, party) => {
    const without = { [party]: undefined };
    const optional = await servingWith("", without);
    expect(await askFor(optional, operation)).not.toHaveProperty("code");
    const required = await servingWith(lines("changes:", "  - credentials: required"), without);
    expect(await askFor(required, operation)).toEqual({ code: "NotFound", message: missing(party) });
  });

  test("required of issuers", async () => {
    const configuration = element(
      "InstrumentConfiguration",
      "usd",
      payload.configuration("USD", { issuerRequirements: [requirement(["issues=USD"])] }),
    );
    const running = await servingWith(lines("changes:", "  - credentials: required"), { configuration });
    const ofAlice = `a valid credential for alice from issuer ${parties.issuer} with the claim issues = USD does not exist`;
    const expected = {
      "mint-offer/create": ofAlice,
      "burn-request/accept": ofAlice,
      "burn-mint-factory": ofAlice,
    };
    for (const [operation, message] of Object.entries(expected))
      expect(await askFor(running, operation)).toEqual({ code: "NotFound", message });
  });

  test("required in the operations of the change alone, and never to leave", async () => {
    const contexts = lines(
      "changes:",
      "  - { operations: [transfer-instruction/reject], add: [{ entry: sender-credentials }] }",
      "  - { operations: [transfer-instruction/*], credentials: required }",
    );
    const running = await servingWith(contexts, { alice: undefined });
    expect(await askFor(running, "transfer-instruction/accept")).toMatchObject({ code: "NotFound" });
    expect(await askFor(running, "transfer-factory/offer")).not.toHaveProperty("code");
    expect((await askFor(running, "transfer-instruction/reject"))["values"]).toMatchObject(
      prefixed({ "sender-credentials": contractIds() }),
    );
  });

  test("optional again by a later change", async () => {
    const contexts = lines(
      "changes:",
      "  - credentials: required",
      "  - { operations: [transfer-*], credentials: optional }",
    );
    const running = await servingWith(contexts, { alice: undefined });
    expect(await askFor(running, "transfer-instruction/accept")).not.toHaveProperty("code");
    expect(await askFor(running, "settlement-factory")).toMatchObject({ code: "NotFound" });
  });

  test("required under a condition", async () => {
    const contexts = lines(
      "packages:",
      '  pkg-1: "0.7.0"',
      "changes:",
      "  - credentials: required",
      '    when: { package: utility-registry-app-v0, from: "0.8.0" }',
    );
    const running = await servingWith(contexts, { alice: undefined });
    expect(await askFor(running, "transfer-factory/offer")).not.toHaveProperty("code");
    const newer = await servingWith(contexts.replace("0.7.0", "0.8.0"), { alice: undefined });
    expect(await askFor(newer, "transfer-factory/offer")).toMatchObject({
      code: "NotFound",
      message: missing("alice"),
    });
  });
});

describe("checkBlocklist", () => {
  const checking = element("InstrumentConfiguration", "usd", payload.configuration("USD", { checkBlocklist: true }));
  const change = lines("changes:", "  - add: [{ entry: shard, when: checkBlocklist }]");

  test("without a blocklist is 400, except to leave; the message names instrument and setting", async () => {
    const running = await servingWith("", { configuration: checking });
    expect(await askAll(running, codeOf)).toEqual(ofEach((name) => (isExit(name) ? "" : "InvalidArgument")));
    const { message } = await askFor(running, "transfer-factory/offer");
    for (const part of ["USD", "checkBlocklist", "OFFLEDGER_CONTEXTS"]) expect(message).toContain(part);
  });

  test("with a line for it is answered, and the entry is there", async () => {
    const running = await servingWith(shardEntry + change, { configuration: checking }, shard);
    const found = await askAll(running, (answer) => ({
      value: valuesOf(answer)["utility.digitalasset.com/shard"],
      isDisclosed: disclosedBy(answer).includes("shard"),
    }));
    expect(found).toEqual(ofEach(() => ({ value: contractId("shard"), isDisclosed: true })));
  });

  test("a line for it in one operation leaves the others 400", async () => {
    const contexts =
      shardEntry +
      lines(
        "changes:",
        "  - operations: [settlement-factory]",
        "    add: [{ disclosure: shard, when: checkBlocklist }]",
      );
    const running = await servingWith(contexts, { configuration: checking }, shard);
    expect((await askFor(running, "settlement-factory"))["disclosed"]).toContain("shard");
    expect(await askFor(running, "transfer-factory/offer")).toMatchObject({ code: "InvalidArgument" });
  });

  test("an instrument without it does not get the entry", async () => {
    const running = await servingWith(shardEntry + change, {}, shard);
    const isDisclosed = await askAll(running, (answer) => disclosedBy(answer).includes("shard"));
    expect(isDisclosed).toEqual(ofEach(() => false));
  });

  test("one of several instruments is enough", async () => {
    const eur = element("InstrumentConfiguration", "eur", payload.configuration("EUR", { checkBlocklist: true }));
    const running = await servingWith(shardEntry + change, {}, shard, eur);
    expect((await ask(running, settle([legOf("USD")], [])))["disclosed"]).not.toContain("shard");
    expect((await ask(running, settle([legOf("USD"), legOf("EUR")], [])))["disclosed"]).toContain("shard");
  });
});

test("severalInstruments holds for more than one", async () => {
  const eur = element("InstrumentConfiguration", "eur", payload.configuration("EUR"));
  const contexts =
    shardEntry +
    lines("changes:", "  - { operations: [settlement-factory], add: [{ entry: shard, when: severalInstruments }] }");
  const running = await servingWith(contexts, {}, shard, eur);
  const one = (await ask(running, settle([legOf("USD"), legOf("USD")], [])))["values"] as JsonObject;
  expect(one).not.toHaveProperty(["utility.digitalasset.com/shard"]);
  const two = (await ask(running, settle([legOf("USD"), legOf("EUR")], [])))["values"] as JsonObject;
  expect(two).toMatchObject(
    prefixed({
      shard: contractId("shard"),
      "instrument-configurations": map({ USD: contractId("usd"), EUR: contractId("eur") }),
    }),
  );
});

/** A line under a key of its own. */
const lineFor = (condition: string, index: number): string =>
  `      - { entry: shard, keys: [c${index}], when: { package: utility-registry-app-v0, ${condition} } }`;

describe("a condition on a package", () => {
  const conditions = [
    "from: '0.7.0'",
    "before: '0.7.0'",
    "from: '0.7.0', before: '0.8.0'",
    "from: '0.7.1'",
    "before: '0.10.0'",
    "from: '0.7', before: '0.7.0.1'",
  ];
  const contexts = (versions: readonly string[]) =>
    shardEntry +
    lines("packages:", ...versions.map((version, index) => `  pkg-${index}: "${version}"`), "changes:") +
    lines("  - operations: [mint-offer/cancel]", "    add:", ...conditions.map(lineFor));

  const holding = async (packageId: string, versions: readonly string[]): Promise<JsonValue[]> => {
    const instruction = element("MintOffer", "mint-offer", payload.mint("alice", "USD"), { packageId });
    const running = await serving([instruction, shard], {
      config: { contexts: await contextsFile(contexts(versions)) },
    });
    const call = askFor(running, "mint-offer/cancel");
    return Object.keys((await call)["values"] as JsonObject);
  };

  test.each<[string, string, number[]]>([
    ["a listed version", "0.7.0", [0, 2, 4, 5]],
    ["one with fewer numbers", "0.7", [0, 2, 4, 5]],
    ["an older one", "0.6.9", [1, 4]],
    ["a newer one", "0.8.0", [0, 3, 4]],
    ["one that is newer as a number, not as a text", "0.10.0", [0, 3]],
    ["one with more numbers", "0.7.0.2", [0, 2, 4]],
  ])("is met by %s, %s", async (_what, version, expected) => {
    expect(await holding("pkg-0", [version])).toEqual(expected.map((index) => `c${index}`));
  });

  test("counts a package that is not listed as current", async () => {
    expect(await holding("pkg-9", ["0.7.0"])).toEqual(["c0", "c3"]);
  });

  test("is about the factory or the instruction, by its package", async () => {
    const change = lines(
      "changes:",
      "  - add:",
      '      - { entry: shard, keys: [app], when: { package: utility-registry-app-v0, from: "0.1" } }',
      '      - { entry: shard, keys: [registry], when: { package: utility-registry-v0, from: "0.1" } }',
    );
    const running = await servingWith(shardEntry + change, {}, shard);
    const own = await askAll(running, (answer) =>
      Object.keys(valuesOf(answer)).filter((key) => key === "app" || key === "registry"),
    );
    expect(own).toEqual(ofEach((name) => (name.startsWith("allocation/") ? ["registry"] : ["app"])));
  });
});
