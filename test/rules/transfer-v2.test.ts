/** The transfer operations give the same bytes under the paths of versions 1 and 2. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import {
  account,
  replaced,
  transferChoice,
  transferFactory,
  transferFactoryV2,
  transferV1,
  transferV2,
} from "../fixtures/requests.js";
import { contractId, contractIds, failure, prefixed, resultContracts, short } from "../fixtures/context.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { instructions, registryOf, serving } from "../fixtures/registries.js";
import { type Running, serve, WITH_CREDENTIALS_REQUIRED } from "../fixtures/run-service.js";

const other = "registrar-2::1220";

let running: Running;
beforeAll(async () => {
  running = await serve(
    registryOf(
      {},
      element("Credential", "carol-holds", payload.credential("carol", ["holds=USD"])),
      element("TransferPreapproval", "preapproval", payload.preapproval("carol", ["USD"])),
      element("AllocationFactory", "factory-2", payload.service({ registrar: other })),
      ...instructions(),
      element("TransferOffer", "unlocked", payload.offer("alice", "bob", "USD", "gone")),
      element("TransferOffer", "leaving", payload.offer("alice", "bob", "USD", "locked"), { moving: "unassigned" }),
    ),
  );
});
afterAll(() => running.close());

/** Status, type and bytes. */
async function raw(path: string, body: JsonValue): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(running.url + path, { method: "POST", body: JSON.stringify(body), headers });
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}

const executed = (receiver: string): JsonObject => ({
  ...prefixed({
    "instrument-configuration": contractId("usd"),
    "sender-credentials": contractIds("alice-holds"),
    "receiver-credentials": contractIds(receiver),
    "transfer-rule": contractId("rule"),
  }),
  ...resultContracts(true),
});

const offered = {
  ...prefixed({ "instrument-configuration": contractId("usd"), "sender-credentials": contractIds("alice-holds") }),
};
const taken = (...ids: string[]): string[] => ["alice-holds", ...ids, "rule", "usd"];

const templates: [
  receiver: string,
  transferKind: string,
  factoryId: string,
  values: JsonObject,
  disclosed: string[],
][] = [
  ["bob", "offer", "factory", offered, ["alice-holds", "factory", "usd"]],
  ["alice", "self", "factory", executed("alice-holds"), taken("factory")],
  ["carol", "direct", "preapproval", executed("carol-holds"), taken("carol-holds", "preapproval")],
];

const ask = async (body: JsonObject) => short(await running.post(transferFactoryV2(), body));

describe("the transfer factory of v2", () => {
  test.each(templates)(
    "answers a transfer to %s with kind %s",
    async (receiver, transferKind, factoryId, ...context) => {
      const [values, disclosed] = context;
      const expected = { transferKind, factoryId, values, disclosed };
      for (const body of [transferV1("alice", receiver), transferV2(account("alice"), account(receiver))]) {
        expect(await ask(body)).toEqual(expected);
      }
    },
  );

  test.each<[string, JsonObject]>([
    ["an offer", transferV1("alice", "bob")],
    ["an offer between accounts", transferV2(account("alice"), account(null, "bob"))],
    ["a direct transfer", transferV1("alice", "carol")],
    ["a transfer to oneself", transferV1("alice", "alice")],
    ["an answer without debug fields", { ...transferV1("alice", "alice"), excludeDebugFields: true }],
    ["no arguments", {}],
    ["a missing sender", replaced(transferV1("alice", "bob"), "choiceArguments.transfer.sender", undefined)],
    ["another expected admin", replaced(transferV1("alice", "bob"), "choiceArguments.expectedAdmin", other)],
    ["an unknown instrument", transferV1("alice", "bob", { instrumentId: { admin: parties.registrar, id: "GBP" } })],
    ["a sender without credentials", transferV1("dave", "bob")],
  ])("answers %s as v1 does", async (_, body) => {
    expect(await raw(transferFactoryV2(), body)).toEqual(await raw(transferFactory(), body));
  });

  test("rejects another admin and an unknown instrument", async () => {
    const admin = transferV1("alice", "bob", { instrumentId: { admin: other, id: "USD" } });
    expect(await ask(admin)).toEqual(failure(400, "instrumentId.admin"));
    const unknown = transferV1("alice", "bob", { instrumentId: { admin: parties.registrar, id: "GBP" } });
    expect(await ask(unknown)).toEqual(failure(404, "GBP"));
  });

  test("has an empty list for a sender without credentials, and rejects it if credentials are required", async () => {
    const body = transferV1("dave", "bob");
    expect(await ask(body)).toEqual({
      transferKind: "offer",
      factoryId: "factory",
      values: { ...offered, ...prefixed({ "sender-credentials": contractIds() }) },
      disclosed: ["factory", "usd"],
    });
    const strict = await serving(registryOf(), WITH_CREDENTIALS_REQUIRED);
    const named = ["dave", parties.issuer, "holds", "USD"];
    expect(short(await strict.post(transferFactoryV2(), body))).toEqual(failure(404, ...named));
  });
});

describe.each(["accept", "reject", "withdraw"] as const)("the context of %s", (choice) => {
  const [v1, v2] = [transferChoice("v1", choice), transferChoice("v2", choice)];

  test.each<[string, string, JsonObject, number]>([
    ["an offer", "offer", {}, 200],
    ["an offer, with meta", "offer", { meta: { values: { key: "value" } } }, 200],
    ["an offer, without debug fields", "offer", { excludeDebugFields: true }, 200],
    ["an offer whose holding is gone", "unlocked", {}, 200],
    ["an offer that moves", "leaving", {}, 409],
    ["an unknown contract", "00ff", {}, 404],
    ["an allocation", "allocation", {}, 404],
    ["a meta that is no object", "offer", { meta: 5 }, 400],
  ])("of %s is the same", async (_, id, body, status) => {
    const answer = await raw(v1(id), body);
    expect(answer).toMatchObject({ status });
    expect(await raw(v2(id), body)).toEqual(answer);
  });

  test("of another registrar's offer is not found", async () => {
    for (const path of [v1("offer", other), v2("offer", other)]) {
      expect(short(await running.post(path, {}))).toEqual(failure(404, "offer"));
    }
  });
});
