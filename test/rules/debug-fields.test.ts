import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { burnAccept, cancel, sampleRequests, transferChoice, type Endpoint } from "../fixtures/requests.js";
import { disclosedBy } from "../fixtures/context.js";
import { element, payload } from "../fixtures/elements.js";
import { instructions, registryOf, serving } from "../fixtures/registries.js";
import { type Running, serve } from "../fixtures/run-service.js";

let running: Running;
beforeAll(async () => {
  running = await serve(registryOf({}, ...instructions()));
});
afterAll(() => running.close());

const ask = (endpoint: Endpoint, more: JsonObject = {}) => {
  const { path, body } = sampleRequests[endpoint];
  return running.post(path, body === undefined ? undefined : { ...body, ...more });
};

/** The sets of field names of the disclosed contracts, each once. */
const fieldsOf = async (answer: ReturnType<typeof ask>): Promise<string[]> => [
  ...new Set(disclosedBy(await answer).map((contract) => Object.keys(contract).toSorted().join(" "))),
];

const plain = "contractId createdEventBlob synchronizerId templateId";
const debug = "contractId createdEventBlob debugCreatedAt debugPackageName debugPayload synchronizerId templateId";

describe.each([1, 2, 3, 4, 5] as const)("endpoint %i", (endpoint) => {
  test("has debug fields if excludeDebugFields is false or absent", async () => {
    expect(await fieldsOf(ask(endpoint))).toEqual([debug]);
    expect(await fieldsOf(ask(endpoint, { excludeDebugFields: false }))).toEqual([debug]);
  });

  test("has none if it is true, and nothing else changes", async () => {
    expect(await fieldsOf(ask(endpoint, { excludeDebugFields: true }))).toEqual([plain]);
    const [withDebug, without] = await Promise.all([ask(endpoint), ask(endpoint, { excludeDebugFields: true })]);
    expect(without.body).toEqual(withoutDebugFields(withDebug.body));
  });
});

test("a contract of a burn operation has no debug fields, and has createdAt", async () => {
  expect(await fieldsOf(ask(6))).toEqual(["contractId createdAt createdEventBlob domainId synchronizerId templateId"]);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8] as const)("only endpoint 2 has transferKind (endpoint %i)", async (endpoint) => {
  const { status, body } = await ask(endpoint);
  expect(status).toBe(200);
  expect(JSON.stringify(body).includes("transferKind")).toBe(endpoint === 2);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8] as const)("no field is null on endpoint %i", async (endpoint) => {
  const { body } = await ask(endpoint, endpoint < 6 ? { excludeDebugFields: true } : {});
  expect(JSON.stringify(body)).not.toContain("null");
});

test("the payload is unchanged, with null and unknown fields", async () => {
  const argument = payload.configuration("USD", {
    providerAppRewardBeneficiaries: null,
    additionalIdentifiers: [],
    added: {
      later: null,
      list: [null, [], {}, { deep: null }],
      number: "12.5000000000",
      flag: false,
      text: "é\u2028\\",
    },
  });
  const one = await serving(
    registryOf(
      { configuration: element("InstrumentConfiguration", "usd", argument) },
      element("TransferOffer", "offer", payload.offer("alice", "bob", "USD", "locked")),
    ),
  );
  const [configuration] = disclosedBy(await one.post(transferChoice("v2", "accept")("offer")));
  expect(configuration).toMatchObject({ contractId: "usd" });
  expect(configuration?.["debugPayload"]).toStrictEqual(argument);
});

test("the creation time is unchanged", async () => {
  const one = await serving(
    registryOf(
      {},
      element("DvpLegAllocation", "allocation", payload.allocation("alice", "bob", "USD", "locked")),
      element("Holding", "locked", payload.lockedHolding("alice", "USD"), { createdAt: "2026-02-05T09:00:00.123456Z" }),
    ),
  );
  const [holding] = disclosedBy(await one.post(cancel("allocation")));
  expect(holding).toMatchObject({ contractId: "locked", debugCreatedAt: "2026-02-05T09:00:00.123456Z" });
});

test.each(["CgMy/+8=", "CgMyLjE=", "/+8=", "QUJD".repeat(50_000)])(
  "the blob is forwarded unchanged (case %#)",
  async (blob) => {
    const one = await serving(
      registryOf(
        {},
        element("DvpLegAllocation", "allocation", payload.allocation("alice", "bob", "USD", "locked")),
        element("BurnRequest", "request", payload.burn("alice", "USD", { lockedHoldingCid: "locked" })),
        element("Holding", "locked", payload.lockedHolding("alice", "USD"), { blob }),
      ),
    );
    for (const path of [cancel("allocation"), burnAccept("request")]) {
      const holding = disclosedBy(await one.post(path)).find(({ contractId }) => contractId === "locked");
      expect(holding?.["createdEventBlob"] === blob).toBe(true);
    }
  },
);

/** A copy without any field whose name starts with `debug`. */
function withoutDebugFields(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutDebugFields);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !name.startsWith("debug"));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutDebugFields(inner)]));
}
