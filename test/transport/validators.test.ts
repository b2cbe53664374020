/** What responses say they rest on, and conditional requests, by every protocol. The page is docs/caching.md. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { tagsHeader } from "../../src/transport/validators.js";
import { acme } from "../fixtures/calls/build.js";
import { failingCalls, successfulCalls } from "../fixtures/calls/index.js";
import { conditionalCalls, type ReceivedResponse } from "../fixtures/conditional-calls.js";
import { element, payload } from "../fixtures/elements.js";
import { registryOf } from "../fixtures/registries.js";
import { transferFactory, transferV1 } from "../fixtures/requests.js";
import { registry, type Running, serve, serveFile } from "../fixtures/run-service.js";

const states = ["offledger-generation", "offledger-offset", "offledger-record-time"];
const asked = ["etag", "offledger-tags", "offledger-valid-until"];

const headersOf = ({ headers }: Pick<ReceivedResponse, "headers">, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, headers.get(name)]));
const none = Object.fromEntries(asked.map((name) => [name, null]));

/** Operations whose responses rest on no contracts, or on an update of the past. */
const isCacheable = (name: string) => !/liveness|readiness|OpenAPI|proof/i.test(name);

let demo: Running;
beforeAll(async () => {
  demo = await serveFile(undefined);
});
afterAll(() => demo.close());

const protocols = Object.entries(conditionalCalls);
const rows = Object.entries(successfulCalls).filter(([name]) => isCacheable(name));

describe.each(rows)("%s", (_, call) => {
  test("has the same validators by every protocol, where it asks for them", async () => {
    const responses = await Promise.all(protocols.map(([, send]) => send(demo.url, call, "")));
    const [first, ...others] = responses.map((response) => headersOf(response, [...states, ...asked]));
    expect(first).toMatchObject({
      etag: expect.stringMatching(/^W\/"[\w-]{22}"$/) as string,
      "offledger-generation": expect.stringMatching(/^[\w-]{12}\.[\w-]{11}$/) as string,
      "offledger-offset": "4000",
    });
    for (const other of others) expect(other).toEqual(first);
  });

  test("is empty for a client that has it, complete for others, and says nothing to those who do not ask", async () => {
    for (const [protocol, send] of protocols) {
      // oxlint-disable-next-line no-await-in-loop
      const [plain, first] = await Promise.all([send(demo.url, call), send(demo.url, call, 'W/"other"')]);
      expect(headersOf(plain, asked), protocol).toEqual(none);
      expect(headersOf(plain, states), protocol).toEqual(headersOf(first, states));
      expect(first.message, protocol).toEqual(plain.message);
      const etag = first.headers.get("etag") ?? "";
      // oxlint-disable-next-line no-await-in-loop
      const again = await send(demo.url, call, `W/"other", ${etag}`);
      const notModified = [plain, first, again].map(({ headers }) => headers.get("offledger-not-modified"));
      expect(notModified, protocol).toEqual([null, null, "true"]);
      expect([again.status, isEmpty(again.message)], protocol).toEqual([200, true]);
      expect(headersOf(again, asked), protocol).toEqual(headersOf(first, asked));
    }
  });
});

/** Whether it is a message without values, or its length is 0. */
function isEmpty(message: ReceivedResponse["message"]): boolean {
  if (typeof message !== "object" || message === null) return message === 0;
  return Object.values(message).every((value) => value === "" || (Array.isArray(value) && value.length === 0));
}

test.each(Object.entries(failingCalls))("the error of %s has no validators", async (_, { call }) => {
  for (const protocol of ["REST", "gRPC by node:http2"]) {
    // oxlint-disable-next-line no-await-in-loop
    const response = await conditionalCalls[protocol]?.(demo.url, call, "");
    for (const name of [...states, ...asked]) expect(response?.headers.get(name)).toBeNull();
  }
});

test("the empty response of REST is {}", async () => {
  const [[, call] = []] = rows;
  const send = conditionalCalls["REST"];
  expect(call === undefined ? undefined : (await send?.(demo.url, call, "*"))?.message).toEqual({});
});

describe("GET", () => {
  const message = encodeURIComponent(JSON.stringify({ registrarParty: acme }));
  const paths = {
    REST: `${registry(acme)}/metadata/v1/instruments`,
    Connect: `/offledger.metadata.v1.MetadataService/ListInstruments?connect=v1&encoding=json&message=${message}`,
  };

  describe.each(Object.entries(paths))("of %s", (_, path) => {
    const get = async (headers: Record<string, string> = {}) => {
      const response = await fetch(demo.url + path, { headers });
      return { status: response.status, headers: response.headers, text: await response.text() };
    };

    test("a shared cache has to ask before each use, whether or not there are validators", async () => {
      const [plain, asking] = [await get(), await get({ "if-none-match": '""' })];
      for (const { headers, text } of [plain, asking]) {
        expect(headers.get("cache-control")).toBe("no-cache");
        expect(text).toBe(plain.text);
      }
      expect(headersOf(plain, asked)).toEqual(none);
      expect(asking.headers.get("etag")).toMatch(/^W\//);
      expect(asking.headers.get("offledger-tags")).toMatch(/^[\da-f]{8}/);
    });

    test("If-None-Match is answered with 304: for the tag, its strong form, and *", async () => {
      const etag = (await get({ "if-none-match": '""' })).headers.get("etag") ?? "";
      for (const condition of [etag, etag.slice(2), ` "x", ${etag}`, "*"]) {
        // oxlint-disable-next-line no-await-in-loop
        const response = await get({ "if-none-match": condition, "offledger-if-none-match": condition });
        expect([response.status, response.text, response.headers.get("etag")]).toEqual([304, "", etag]);
        expect(response.headers.get("offledger-not-modified")).toBeNull();
      }
      for (const condition of ['W/"other"', etag.slice(3, -1), ""])
        // oxlint-disable-next-line no-await-in-loop
        expect((await get({ "if-none-match": condition })).status).toBe(200);
    });

    test("caches must not keep the empty response to a client that has it", async () => {
      const etag = (await get({ "offledger-if-none-match": "" })).headers.get("etag") ?? "";
      const { status, headers } = await get({ "offledger-if-none-match": etag, "if-none-match": '"other"' });
      expect([status, headers.get("offledger-not-modified"), headers.get("cache-control")]).toEqual([
        200,
        "true",
        "no-store",
      ]);
    });
  });
});

const post = async (url: string, path: string, body: JsonValue, headers: Record<string, string>) =>
  fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

/** The headers of a transfer factory, asked for with `Offledger-If-None-Match` by default. */
const transfer = async (served: readonly JsonObject[], asking = { "offledger-if-none-match": "" }) => {
  const running = await serve(served);
  try {
    const { status, headers } = await post(running.url, transferFactory(), transferV1("alice", "bob"), asking);
    expect(status).toBe(200);
    return headers;
  } finally {
    await running.close();
  }
};

test("POST knows no If-None-Match: it asks for nothing", async () => {
  const running = await serve(registryOf());
  try {
    const response = await post(running.url, transferFactory(), transferV1("alice", "bob"), { "if-none-match": "*" });
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, null]);
    expect(headersOf(response, asked)).toEqual(none);
  } finally {
    await running.close();
  }
});

describe("between two processes", () => {
  const elements = registryOf();

  test("entity tag and tags are the same for the same contracts, and the generations differ", async () => {
    const [first, second] = [await transfer(elements), await transfer(elements)];
    expect(second.get("etag")).toBe(first.get("etag"));
    expect(second.get("offledger-tags")).toBe(first.get("offledger-tags"));
    expect(second.get("offledger-generation")).not.toBe(first.get("offledger-generation"));
  });

  test("a contract that the response does not need changes nothing", async () => {
    const more = element("Credential", "dave-holds", payload.credential("dave", ["holds=USD"]));
    const [before, after] = [await transfer(elements), await transfer([...elements, more])];
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

/** Until when a response holds that rests on these credentials of alice. The service's time is 2026-06-01. */
const validity = async (...ofAlice: readonly JsonObject[]) => {
  const credentials = ofAlice.map((more, index) =>
    element("Credential", `alice-${index}`, { ...payload.credential("alice", ["holds=USD"]), ...more }),
  );
  return (await transfer(registryOf({ alice: undefined }, ...credentials))).get("offledger-valid-until");
};

describe("Offledger-Valid-Until", () => {
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

const tagsFrom = (first: number, count: number, step = 104_729): Set<string> =>
  new Set(Array.from({ length: count }, (_, index) => (first + index * step).toString(16).padStart(8, "0")));

describe("Offledger-Tags", () => {
  test("is absent where the response changes with every update: it has a total supply", async () => {
    const running = await serve(registryOf(), { config: { totalSupply: true } });
    try {
      const { headers } = await fetch(`${running.url}${registry()}/metadata/v1/instruments`, {
        headers: { "offledger-if-none-match": "" },
      });
      expect(headers.get("etag")).toMatch(/^W\//);
      expect(headers.get("offledger-tags")).toBeNull();
    } finally {
      await running.close();
    }
  });

  test("lists 90 tags", () => {
    const tags = tagsFrom(0xff00_0000, 90);
    expect(tagsHeader(tags).split(",")).toEqual([...tags]);
    expect(tagsHeader(new Set())).toBe("");
  });

  test("is a bit set of the first three digits of more, as docs/caching.md has it", () => {
    const near = Buffer.from(tagsHeader(tagsFrom(0, 91, 1)).slice(1), "base64url");
    expect(near).toEqual(Buffer.from([1, ...Array.from({ length: 511 }, () => 0)]));
    const tags = [...tagsFrom(0x1234_5678, 400), ...tagsFrom(0xff00_0000, 100)];
    const header = tagsHeader(new Set(tags));
    expect(header).toMatch(/^~[\w-]{683}$/);
    const bytes = Buffer.from(header.slice(1), "base64url");
    const set = Array.from({ length: 4_096 }, (_, bit) => bit).filter(
      (bit) => ((bytes[bit >> 3] ?? 0) >> (bit % 8)) % 2 === 1,
    );
    expect(new Set(set)).toEqual(new Set(tags.map((tag) => Number.parseInt(tag.slice(0, 3), 16))));
  });
});
