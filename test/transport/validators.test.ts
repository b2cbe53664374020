/** What responses say they rest on, and conditional requests, by every protocol. The page is docs/caching.md. */
import { create, toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { tagsHeader } from "../../src/transport/send.js";
import { acme } from "../fixtures/calls/build.js";
import { failingCalls, successfulCalls } from "../fixtures/calls/index.js";
import { info } from "../fixtures/calls/operations.js";
import { element, payload } from "../fixtures/elements.js";
import { type Call, clients, type Received } from "../fixtures/protocols.js";
import { registryOf, serving } from "../fixtures/registries.js";
import { transferFactory, transferV1 } from "../fixtures/requests.js";
import { registry, type Running, serveFile } from "../fixtures/run-service.js";

const states = ["offledger-generation", "offledger-offset", "offledger-record-time"];
const asked = ["etag", "offledger-tags", "offledger-valid-until"];
const ASK = "offledger-if-none-match";

const headersOf = ({ headers }: Pick<Received, "headers">, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, headers.get(name)]));
const none = Object.fromEntries(asked.map((name) => [name, null]));

let demo: Running;
beforeAll(async () => {
  demo = await serveFile(undefined);
});
afterAll(() => demo.close());

type Send = (call: Call, etag?: string) => Promise<Received>;
const ways = Object.entries(clients).flatMap(([name, client]): [string, Send][] =>
  (name === "REST" ? [undefined] : [undefined, 20_000]).map((deadlineMs) => [
    deadlineMs === undefined ? name : `${name} with a deadline`,
    (call, etag) =>
      client(demo.url, call, {
        ...(etag !== undefined && { headers: { [ASK]: etag } }),
        ...(deadlineMs !== undefined && { deadlineMs }),
      }),
  ]),
);

/** Operations whose responses rest on no contracts, or on an update of the past, have none. */
const rows = Object.entries(successfulCalls).filter(([name]) => !/liveness|readiness|OpenAPI|proof/i.test(name));

test.each(rows)(
  "%s: the same validators by every protocol, for those who ask; empty for who has it",
  async (_, call) => {
    const seen = new Set<string>();
    for (const [way, send] of ways) {
      const [plain, first] = await Promise.all([send(call), send(call, 'W/"other"')]);
      expect(headersOf(plain, asked), way).toEqual(none);
      expect(headersOf(plain, states), way).toEqual(headersOf(first, states));
      expect(first.answer, way).toEqual(plain.answer);
      const etag = first.headers.get("etag") ?? "";
      const again = await send(call, `W/"other", ${etag}`);
      const notModified = [plain, first, again].map(({ headers }) => headers.get("offledger-not-modified"));
      expect(notModified, way).toEqual([null, null, "true"]);
      const empty =
        way === "REST" ? {} : toJson(call.method.output, create(call.method.output), { alwaysEmitImplicit: true });
      expect([again.code, again.answer], way).toEqual([0, empty]);
      expect(headersOf(again, asked), way).toEqual(headersOf(first, asked));
      seen.add(JSON.stringify(headersOf(first, [...states, ...asked])));
    }
    expect([...seen].map((one) => JSON.parse(one) as unknown)).toEqual([
      expect.objectContaining({
        etag: expect.stringMatching(/^W\/"[\w-]{22}"$/) as string,
        "offledger-generation": expect.stringMatching(/^[\w-]{12}\.[\w-]{11}$/) as string,
        "offledger-offset": "4000",
      }),
    ]);
  },
);

test.each(Object.entries(failingCalls))("the error of %s has no validators", async (_, call) => {
  for (const [way, send] of ways.filter(([name]) => name === "REST" || name === "gRPC")) {
    const names = [...states, ...asked];
    expect(headersOf(await send(call, ""), names), way).toEqual(Object.fromEntries(names.map((name) => [name, null])));
  }
});

test("the empty response of REST is {}", async () => {
  const [[, send] = []] = ways;
  expect((await send?.(info(acme), "*"))?.answer).toEqual({});
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
        const response = await get({ "if-none-match": condition, "offledger-if-none-match": condition });
        expect([response.status, response.text, response.headers.get("etag")]).toEqual([304, "", etag]);
        expect(response.headers.get("offledger-not-modified")).toBeNull();
      }
      for (const condition of ['W/"other"', etag.slice(3, -1), ""])
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

/** A transfer factory, asked for with `Offledger-If-None-Match` by default. */
async function transferOf(served: readonly JsonObject[], asking: Record<string, string> = { [ASK]: "" }) {
  const { url } = await serving(served);
  const response = await post(url, transferFactory(), transferV1("alice", "bob"), asking);
  expect(response.status).toBe(200);
  return response;
}
const transfer = async (served: readonly JsonObject[]) => (await transferOf(served)).headers;

test("POST knows no If-None-Match: it asks for nothing", async () => {
  const response = await transferOf(registryOf(), { "if-none-match": "*" });
  expect(response.headers.get("cache-control")).toBeNull();
  expect(headersOf(response, asked)).toEqual(none);
});

test("between two processes the entity tag and the tags are the same, the generation is another", async () => {
  const more = element("Credential", "dave-holds", payload.credential("dave", ["holds=USD"]));
  // The body of a contract never changes, and is not read for its entity tag.
  const blob = element("AllocationFactory", "factory", payload.service(), { blob: "AAAA" });
  const [before, after] = [await transfer(registryOf()), await transfer([...registryOf({ factory: blob }), more])];
  for (const name of ["etag", "offledger-tags"]) expect([name, after.get(name)]).toEqual([name, before.get(name)]);
  expect(after.get("offledger-generation")).not.toBe(before.get("offledger-generation"));
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
    const { url } = await serving(registryOf(), { config: { totalSupply: true } });
    const { headers } = await fetch(`${url}${registry()}/metadata/v1/instruments`, { headers: { [ASK]: "" } });
    expect(headers.get("etag")).toMatch(/^W\//);
    expect(headers.get("offledger-tags")).toBeNull();
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
