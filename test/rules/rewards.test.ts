/** The optional entries for rewards, where the contexts file turns them on. A transfer to oneself has both. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { transferFactory, transferV1 } from "../fixtures/requests.js";
import { contractId, contractIds, prefixed, resultContracts, short } from "../fixtures/context.js";
import { element, payload } from "../fixtures/elements.js";
import { registryOf, serving } from "../fixtures/registries.js";
import { WITH_REWARDS } from "../fixtures/run-service.js";

const selfWith = (entries: JsonObject, ...disclosed: string[]): JsonObject => ({
  factoryId: "factory",
  transferKind: "self",
  values: {
    ...prefixed({
      "instrument-configuration": contractId("usd"),
      "sender-credentials": contractIds("alice-holds"),
      "receiver-credentials": contractIds("alice-holds"),
      "transfer-rule": contractId("rule"),
      ...entries,
    }),
    ...resultContracts(true),
  },
  disclosed: ["alice-holds", "factory", ...disclosed, "rule", "usd"],
});

const both = selfWith(
  { "app-reward-configuration": contractId("reward"), "featured-app-right": contractId("right") },
  "reward",
  "right",
);
const rewardOnly = selfWith({ "app-reward-configuration": contractId("reward") }, "reward");

const ask = async (...args: Parameters<typeof registryOf>): Promise<JsonObject> => {
  const running = await serving(registryOf(...args), WITH_REWARDS);
  return short(await running.post(transferFactory(), transferV1("alice", "alice")));
};

test("both entries exist if both contracts exist", async () => {
  expect(await ask()).toEqual(both);
});

test("without a featured app right its entry is left out", async () => {
  expect(await ask({ right: undefined })).toEqual(rewardOnly);
});

test("with neither, both entries are left out", async () => {
  expect(await ask({ reward: undefined, right: undefined })).toEqual(selfWith({}));
});

test("another provider's reward configuration is ignored", async () => {
  const others = element("AppRewardConfiguration", "reward", payload.reward({ provider: "provider-2::1220" }));
  expect(await ask({ reward: others, right: undefined })).toEqual(selfWith({}));
});

test("another provider's featured app right is ignored", async () => {
  const others = element("FeaturedAppRight", "right", payload.right({ provider: "provider-2::1220" }));
  expect(await ask({ right: others })).toEqual(rewardOnly);
});

test("a featured app right of another dso than the reward configuration names is ignored", async () => {
  const others = element("FeaturedAppRight", "right", payload.right({ dso: "dso-2::1220" }));
  expect(await ask({ right: others })).toEqual(rewardOnly);
});

test("a newer featured app right of another dso does not hide the one of the right dso", async () => {
  const others = element("FeaturedAppRight", "newer", payload.right({ dso: "dso-2::1220" }), {
    createdAt: "2026-02-05T09:00:00.000000Z",
  });
  expect(await ask({}, others)).toEqual(both);
});

test("a featured app right does not need a reward configuration", async () => {
  const rightOnly = selfWith({ "featured-app-right": contractId("right") }, "right");
  expect(await ask({ reward: undefined })).toEqual(rightOnly);
});
