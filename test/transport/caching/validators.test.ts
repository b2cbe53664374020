/** What responses say they rest on, and conditional requests, by every protocol. The page is docs/caching.md. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callNamed, failingCalls, successfulCalls } from "../../fixtures/calls/index.js";
import { conditionalCalls, type ReceivedResponse } from "../../fixtures/conditional-calls.js";
import { element, payload } from "../../fixtures/elements.js";
import type { JsonObject } from "../../../src/domain/json.js";
import { acme } from "../../fixtures/calls/build.js";
import { registryOf } from "../../fixtures/registries.js";
import { account, leg, settlement, settlementFactory, transferFactory, transferV1 } from "../../fixtures/requests.js";
import { registry, type Running, serve, serveFile } from "../../fixtures/run-service.js";

const names = ["etag", "offledger-generation", "offledger-offset", "offledger-record-time", "offledger-tags"] as const;

const validatorsOf = ({ headers }: ReceivedResponse) =>
  Object.fromEntries([...names, "offledger-valid-until"].map((name) => [name, headers.get(name)]));

/** Operations whose responses rest on no contracts, or on an update of the past. */
const isCacheable = (name: string) => !/liveness|readiness|OpenAPI|proof/i.test(name);

let demo: Running;
beforeAll(async () => {
  demo = await serveFile(undefined);
});
afterAll(() => demo.close());

const rows = Object.entries(successfulCalls).filter(([name]) => isCacheable(name));

test("most operations are covered", () => expect(rows.length).toBeGreaterThan(40));

describe.each(rows)("%s", (_, call) => {
  test("has the same validators by every protocol", async () => {
    const responses = await Promise.all(Object.values(conditionalCalls).map((send) => send(demo.url, call)));
    const [first, ...others] = responses.map(validatorsOf);
    expect(first).toMatchObject({
      etag: expect.stringMatching(/^W\/"[\w-]{22}"$/) as string,
      "offledger-generation": expect.stringMatching(/^[\w-]{12}\.[\w-]{11}$/) as string,
      "offledger-offset": "4000",
    });
    for (const other of others) expect(other).toEqual(first);
  });

  test("is not sent to a client that has it", async () => {
    const etag = (await conditionalCalls["REST"]?.(demo.url, call))?.headers.get("etag") ?? "";
    for (const [protocol, send] of Object.entries(conditionalCalls)) {
      // oxlint-disable-next-line no-await-in-loop
      const response = await send(demo.url, call, `W/"other", ${etag}`);
      expect(validatorsOf(response), protocol).toMatchObject({ etag });
      const seen = [response.status, isEmpty(response.message), response.headers.get("offledger-not-modified")];
      expect(seen, protocol).toEqual(protocol === "REST" ? [304, true, null] : [200, true, "true"]);
    }
  });

  test("is sent to a client that has another one", async () => {
    for (const [protocol, send] of Object.entries(conditionalCalls)) {
      // oxlint-disable-next-line no-await-in-loop
      const [plain, conditional] = await Promise.all([send(demo.url, call), send(demo.url, call, 'W/"other"')]);
      expect(conditional.status, protocol).toBe(200);
      expect(conditional.message, protocol).toEqual(plain.message);
      expect(conditional.headers.get("offledger-not-modified"), protocol).toBeNull();
    }
  });
});

/** Whether there is no message, or one without values, or its length is 0. */
function isEmpty(message: ReceivedResponse["message"]): boolean {
  if (typeof message !== "object" || message === null) return message === undefined || message === 0;
  return Object.values(message).every((value) => value === "" || (Array.isArray(value) && value.length === 0));
}

test.each(Object.entries(failingCalls))("the error of %s has no validators", async (_, { call }) => {
  for (const send of [conditionalCalls["REST"], conditionalCalls["gRPC by node:http2"]]) {
    // oxlint-disable-next-line no-await-in-loop
    const response = await send?.(demo.url, call);
    for (const name of names) expect(response?.headers.get(name)).toBeNull();
  }
});

test("`*` stands for any response, and a strong tag for the weak one of the same value", async () => {
  const call = callNamed(rows[0]?.[0] ?? "");
  const response = await conditionalCalls["REST"]?.(demo.url, call);
  const strong = response?.headers.get("etag")?.slice(2) ?? "";
  for (const condition of ["*", strong, ` ${strong} ,"x"`]) {
    // oxlint-disable-next-line no-await-in-loop
    expect((await conditionalCalls["REST"]?.(demo.url, call, condition))?.status).toBe(304);
  }
});

const transfer = async (served: readonly JsonObject[]) => {
  const running = await serve(served);
  try {
    const { status, headers } = await running.post(transferFactory(), transferV1("alice", "bob"));
    expect(status).toBe(200);
    return headers;
  } finally {
    await running.close();
  }
};

describe("between two processes", () => {
  const elements = registryOf();

  test("entity tag and tags are the same for the same contracts, and the generations differ", async () => {
    const [first, second] = [await transfer(elements), await transfer(elements)];
    expect(second.get("etag")).toBe(first.get("etag"));
    expect(second.get("offledger-tags")).toBe(first.get("offledger-tags"));
    expect(second.get("offledger-generation")).not.toBe(first.get("offledger-generation"));
  });

  test("a contract that the response does not need changes nothing", async () => {
    const [before, after] = [
      await transfer(elements),
      await transfer([...elements, element("Credential", "dave-holds", payload.credential("dave", ["holds=USD"]))]),
    ];
    expect(after.get("etag")).toBe(before.get("etag"));
  });

  test.each([
    [
      "another blob of a disclosed contract",
      { factory: element("AllocationFactory", "factory", payload.service(), { blob: "AAAA" }) },
    ],
    ["another id", { factory: element("AllocationFactory", "factory-2", payload.service()) }],
    ["one contract less", { alice: undefined }],
  ])("%s changes the entity tag", async (_, changes) => {
    const [before, after] = [await transfer(elements), await transfer(registryOf(changes))];
    expect(after.get("etag")).not.toBe(before.get("etag"));
  });
});

const validity = async (...ofAlice: readonly JsonObject[]) => {
  const credentials = ofAlice.map((more, index) =>
    element("Credential", `alice-${index}`, { ...payload.credential("alice", ["holds=USD"]), ...more }),
  );
  return (await transfer(registryOf({ alice: undefined }, ...credentials))).get("offledger-valid-until");
};

describe("Offledger-Valid-Until", () => {
  // The service's time is 2026-06-01.

  test.each([
    ["nothing ends", {}, null],
    ["it ends", { validUntil: "2026-07-01T00:00:00Z" }, "2026-07-01T00:00:00.000000Z"],
    ["it has ended", { validUntil: "2026-05-01T00:00:00Z" }, null],
    ["it begins", { validFrom: "2026-08-01T00:00:00.000001Z" }, "2026-08-01T00:00:00.000001Z"],
    [
      "it begins and then ends",
      { validFrom: "2026-08-01T00:00:00Z", validUntil: "2026-09-01T00:00:00Z" },
      "2026-08-01T00:00:00.000000Z",
    ],
  ])("of a credential when %s", async (_, alice, expected) => {
    expect(await validity(alice)).toBe(expected);
  });

  test("is the next of several: one with a day left is passed over for another", async () => {
    const both = await validity({ validUntil: "2026-07-01T00:00:00Z" }, { validUntil: "2026-06-02T00:00:00Z" });
    expect(both).toBe("2026-06-01T00:00:00.000001Z");
  });
});

test("a total supply changes with every update, so that its response has no tags", async () => {
  const running = await serve(registryOf(), { config: { totalSupply: true } });
  try {
    const { status, headers } = await running.get(`${registry()}/metadata/v1/instruments`);
    expect([status, headers.get("offledger-tags")]).toEqual([200, null]);
    expect(headers.get("etag")).not.toBeNull();
  } finally {
    await running.close();
  }
});

describe("a settlement of 50 parties", () => {
  const pairs = Array.from({ length: 25 }, (_, index) => [`sender-${index}`, `receiver-${index}`] as const);
  const elements = registryOf(
    {},
    ...pairs.flat().map((one) => element("Credential", `${one}-holds`, payload.credential(one, ["holds=USD"]))),
    ...pairs.flatMap(([sender, receiver]) => [
      element("DvpLegAllocation", `from-${sender}`, payload.allocation(sender, receiver, "USD", `locked-${sender}`)),
      element("Holding", `locked-${sender}`, payload.lockedHolding(sender, "USD")),
    ]),
  );
  const body = settlement(
    pairs.map(([sender, receiver]) => leg(account(sender), account(receiver), "USD")),
    pairs.map(([sender]) => `from-${sender}`),
  );

  test("has less than 1 KB of validators, with its tags as a bit set", async () => {
    const running = await serve(elements);
    try {
      const { status, headers } = await running.post(settlementFactory(), body);
      expect(status).toBe(200);
      expect(headers.get("offledger-tags")).toMatch(/^~[\w-]{683}$/);
      const fields = [...headers].filter(([name]) => name === "etag" || name.startsWith("offledger-"));
      const bytes = fields.reduce((sum, [name, value]) => sum + `${name}: ${value}\r\n`.length, 0);
      expect(fields.length).toBe(5);
      expect(bytes).toBeLessThan(1_024);
    } finally {
      await running.close();
    }
  });
});

test("browsers may read the headers, and send conditions", async () => {
  const preflight = await fetch(`${demo.url}/`, {
    method: "OPTIONS",
    headers: { origin: "https://wallet.example", "access-control-request-method": "POST" },
  });
  expect(preflight.headers.get("access-control-allow-headers")).toContain("Offledger-If-None-Match");
  const response = await fetch(`${demo.url}${registry(acme)}/metadata/v1/info`, {
    headers: { origin: "https://w.example" },
  });
  const exposed = response.headers.get("access-control-expose-headers")?.toLowerCase().split(", ");
  for (const name of [...names, "date", "offledger-valid-until", "offledger-not-modified"])
    expect(exposed).toContain(name);
});

test("a shared cache has to revalidate a response to GET, and does not keep others", async () => {
  const [get, post] = await Promise.all([
    demo.get(`${registry(acme)}/metadata/v1/info`),
    demo.post(transferFactory(acme), { choiceArguments: {} }),
  ]);
  expect(get.headers.get("cache-control")).toBe("no-cache");
  expect(post.headers.get("cache-control")).toBeNull();
});
