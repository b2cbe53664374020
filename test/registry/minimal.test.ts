/** The minimal registry, served with its demo snapshot. Its rules: registries/minimal.test.yaml. */
import { expect, onTestFinished, test } from "vitest";
import { contractId, party } from "../../demo/element.js";
import { elements } from "../../demo/minimal.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { answer } from "../../src/testing/answer.js";
import { utilityFailure } from "../fixtures/context.js";
import { tableOf } from "../fixtures/in-memory.js";
import { registry as pathTo, serveFile } from "../fixtures/run-service.js";

const [admin, tea, alice] = ["coffee-club", "tea-club", "alice"].map(party) as [string, string, string];
const offer = contractId("beans to bob");
const instrumentId = { admin, id: "BEAN" };

test("of Rules contracts on several synchronizers, the one on that which a wallet names is the factory", async () => {
  const two = ["A", "B"].map((id, hour) => ({
    template: ":Rules",
    contractId: id,
    synchronizerId: `sync-${id}`,
    createdAt: `2026-01-0${hour + 1}T00:00:00Z`,
    payload: { admin, symbol: "BEAN", name: "Beans", decimals: "0" },
  }));
  const named = async (_targetSynchronizerId?: JsonValue) => {
    const transfer = { sender: alice, receiver: alice, instrumentId };
    const choiceArguments = { transfer, ...(_targetSynchronizerId !== undefined && { _targetSynchronizerId }) };
    return answer(tableOf("minimal.yaml"), two, { operation: "transfer-factory", registrar: admin, choiceArguments });
  };
  expect(await named()).toMatchObject({ factory: "B" });
  expect(await named("sync-A")).toMatchObject({ factory: "A" });
  expect(await named("sync-C")).toMatchObject({ factory: "B" });
  await expect(named(7)).rejects.toMatchObject({ status: 400 });
});

test("it is served with its demo, and has no operation of the Registry Utility but the list of packages", async () => {
  const running = await serveFile(undefined, { config: { registry: "minimal" } });
  onTestFinished(() => running.close());
  const found = await running.get(`${pathTo(admin)}/metadata/v1/instruments/BEAN`);
  expect(found).toMatchObject({ status: 200, body: { name: "Coffee beans", symbol: "BEAN", decimals: 0 } });
  expect(await running.get(`${pathTo(admin)}/metadata/v1/info`)).toMatchObject({
    status: 200,
    body: { adminId: admin },
  });
  expect(await running.get(`${pathTo(tea)}/metadata/v1/info`)).toMatchObject({ status: 404 });
  const utility = "/api/utilities/v0";
  const [, id] = /"templateId":"(\w+):/.exec(JSON.stringify(elements[0])) ?? [];
  const packages = { packages: [{ name: "minimal-token-v1", id }] };
  expect(await running.get(`${utility}/package/all`)).toMatchObject({ status: 200, body: packages });
  const mint = { holder: alice, instrumentId };
  for (const { status, body } of [
    await running.post(`${utility}/registry/mint/v0/offer`, mint),
    await running.post(`${utility}/registry/burn/v0/request/${offer}/choice-contexts/accept`, {}),
    await running.get(`${utility}/operator`),
    await running.get(`${utility}/contract/instrument-configuration/all`),
  ])
    expect({ status, ...(body as JsonObject) }).toEqual({
      ...utilityFailure(404, "minimal token"),
      error: "not_found",
    });
  // What is malformed is rejected first.
  expect(await running.post(`${utility}/registry/mint/v0/offer`, {})).toMatchObject({ status: 400 });
});
