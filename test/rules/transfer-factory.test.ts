import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { account, transferFactory, transferV1, transferV2 } from "../fixtures/requests.js";
import { contractId, contractIds, failure, prefixed, resultContracts, short } from "../fixtures/context.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";
import { type Running, serve, WITH_REWARDS } from "../fixtures/run-service.js";

const offerToBob = {
  factoryId: "factory",
  transferKind: "offer",
  values: {
    ...prefixed({ "instrument-configuration": contractId("usd"), "sender-credentials": contractIds("alice-holds") }),
  },
  disclosed: ["alice-holds", "factory", "usd"],
};

const executed = (sender: string, receiver: string): JsonObject => ({
  ...prefixed({
    "instrument-configuration": contractId("usd"),
    "sender-credentials": contractIds(sender),
    "receiver-credentials": contractIds(receiver),
    "transfer-rule": contractId("rule"),
  }),
  ...resultContracts(true),
});

const aliceToHerself = {
  factoryId: "factory",
  transferKind: "self",
  values: executed("alice-holds", "alice-holds"),
  disclosed: ["alice-holds", "factory", "rule", "usd"],
};

const directToBob = {
  factoryId: "preapproval",
  transferKind: "direct",
  values: executed("alice-holds", "bob-holds"),
  disclosed: ["alice-holds", "bob-holds", "preapproval", "rule", "usd"],
};

describe("without a preapproval", () => {
  let running: Running;
  beforeAll(async () => {
    running = await serve(registryOf());
  });
  afterAll(() => running.close());

  const ask = async (body: JsonObject) => short(await running.post(transferFactory(), body));

  test("a transfer to another party is an offer", async () => {
    expect(await ask(transferV1("alice", "bob"))).toEqual(offerToBob);
  });

  test("an offer needs no credentials of the receiver", async () => {
    expect(await ask(transferV1("alice", "carol"))).toEqual(offerToBob);
  });

  test("a transfer to oneself has the entries of an acceptance, and the factory", async () => {
    expect(await ask(transferV1("alice", "alice"))).toEqual(aliceToHerself);
  });

  test("a context can be prefetched with sender = receiver, amount 1.0 and no inputs", async () => {
    const ahead = await ask(transferV1("alice", "alice", { amount: "1.0", inputHoldingCids: [] }));
    const inEarnest = await ask(transferV1("alice", "alice", { amount: "250.5", inputHoldingCids: ["h1", "h2"] }));
    expect(ahead).toEqual(aliceToHerself);
    expect(inEarnest).toEqual(aliceToHerself);
  });

  test.each([
    { amount: "1.0", inputHoldingCids: [] },
    { amount: "99999999.9999999999", inputHoldingCids: ["h1"] },
    { amount: "0.0000000001", inputHoldingCids: ["h2", "h1"], requestedAt: "1970-01-01T00:00:00Z" },
  ])("an offer is the same for %o", async (more) => {
    expect(await ask(transferV1("alice", "bob", more))).toEqual(offerToBob);
  });

  test("arguments that do not affect the context are optional", async () => {
    const instrumentId = { admin: parties.registrar, id: "USD" };
    const body = { choiceArguments: { transfer: { sender: "alice", receiver: "bob", instrumentId } } };
    expect(await ask(body)).toEqual(offerToBob);
  });

  test.each([
    ["by their owners", account("alice"), account("bob")],
    ["by their owners before their providers", account("alice", "bob"), account("bob", "alice")],
    ["by their providers if the owner is null", account(null, "alice"), account(null, "bob")],
    ["by their providers if the owner is absent", { provider: "alice", id: "" }, { provider: "bob", id: "" }],
  ])("v2 accounts name parties %s", async (_, sender, receiver) => {
    expect(await ask(transferV2(sender, receiver))).toEqual(offerToBob);
  });

  test("a transfer between two accounts of one party is a transfer to oneself", async () => {
    const body = transferV2(account("alice", null, "savings"), account(null, "alice", "current"));
    expect(await ask(body)).toEqual(aliceToHerself);
  });

  test("the order of the disclosed contracts does not depend on the file", async () => {
    const reversed = await serving(registryOf().toReversed());
    const body = transferV1("alice", "alice");
    const [one, other] = await Promise.all([
      running.post(transferFactory(), body),
      reversed.post(transferFactory(), body),
    ]);
    expect(other.body).toEqual(one.body);
  });
});

async function asking(preapproval: JsonObject, ...added: JsonObject[]) {
  const running = await serving(registryOf({}, element("TransferPreapproval", "preapproval", preapproval), ...added));
  return async (body: JsonObject) => short(await running.post(transferFactory(), body));
}

const withRewards = ({ values, disclosed, ...others }: typeof aliceToHerself) => ({
  ...others,
  values: {
    ...values,
    ...prefixed({ "app-reward-configuration": contractId("reward"), "featured-app-right": contractId("right") }),
  },
  disclosed: [...disclosed, "reward", "right"].toSorted(),
});

describe("with the reward entries on", () => {
  const preapproval = element("TransferPreapproval", "preapproval", payload.preapproval("bob", []));
  const ask = async (receiver: string) => {
    const running = await serving(registryOf({}, preapproval), WITH_REWARDS);
    return short(await running.post(transferFactory(), transferV1("alice", receiver)));
  };

  test("a transfer to oneself and a direct one have them", async () => {
    expect(await ask("alice")).toEqual(withRewards(aliceToHerself));
    expect(await ask("bob")).toEqual(withRewards(directToBob));
  });

  test("an offer has none", async () => {
    expect(await ask("carol")).toEqual(offerToBob);
  });
});

describe("with a preapproval of the receiver", () => {
  test("an empty list of allowances covers every instrument", async () => {
    const ask = await asking(payload.preapproval("bob", []));
    expect(await ask(transferV1("alice", "bob"))).toEqual(directToBob);
    expect(await ask(transferV2(account("alice"), account("bob")))).toEqual(directToBob);
  });

  test("an allowance for the instrument covers it, among others", async () => {
    const ask = await asking(payload.preapproval("bob", ["EUR", "USD"]));
    expect(await ask(transferV1("alice", "bob"))).toEqual(directToBob);
  });

  test("a direct transfer is the same whatever the amount and the inputs", async () => {
    const ask = await asking(payload.preapproval("bob", ["USD"]));
    const body = transferV1("alice", "bob", { amount: "7.25", inputHoldingCids: ["h1"] });
    expect(await ask(body)).toEqual(directToBob);
  });

  test.each([
    ["allowances for other instruments only", payload.preapproval("bob", ["EUR", "usd"])],
    ["another instrument admin", payload.preapproval("bob", [], { instrumentAdmin: "registrar-2::1220" })],
    ["another receiver", payload.preapproval("carol", [])],
  ])("one with %s does not count: the transfer is an offer", async (_, preapproval) => {
    const ask = await asking(preapproval);
    expect(await ask(transferV1("alice", "bob"))).toEqual(offerToBob);
  });

  test("a transfer to oneself stays kind self", async () => {
    const ask = await asking(payload.preapproval("alice", []));
    expect(await ask(transferV1("alice", "alice"))).toEqual(aliceToHerself);
  });

  test("a newer one that covers another instrument does not hide it", async () => {
    const newer = element("TransferPreapproval", "newer", payload.preapproval("bob", ["EUR"]), {
      createdAt: "2026-02-05T09:00:00.000000Z",
    });
    const ask = await asking(payload.preapproval("bob", ["USD"]), newer);
    expect(await ask(transferV1("alice", "bob"))).toEqual(directToBob);
  });
});

describe("without a required contract", () => {
  test.each([
    ["an instrument configuration", { configuration: undefined }, "bob", "USD"],
    ["a factory", { factory: undefined }, "bob", "AllocationFactory"],
  ])("a transfer without %s is not found", async (_, changes, receiver, named) => {
    const running = await serving(registryOf(changes));
    expect(short(await running.post(transferFactory(), transferV1("alice", receiver)))).toEqual(failure(404, named));
  });

  test("an offer needs no transfer rule, reward configuration and featured app right", async () => {
    const running = await serving(registryOf({ rule: undefined, reward: undefined, right: undefined }));
    expect(short(await running.post(transferFactory(), transferV1("alice", "bob")))).toEqual(offerToBob);
  });
});
