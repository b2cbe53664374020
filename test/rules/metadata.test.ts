/** The metadata operations over HTTP. */
import { rename, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { beforeAll, afterAll, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { failure, short } from "../fixtures/context.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { serving } from "../fixtures/registries.js";
import { type Answer, registry, type Running, serve } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";

/** The APIs of the token standard, with their minor versions. */
const supportedApis = {
  "splice-api-token-metadata-v1": 2,
  "splice-api-token-holding-v1": 1,
  "splice-api-token-holding-v2": 1,
  "splice-api-token-transfer-instruction-v1": 1,
  "splice-api-token-transfer-instruction-v2": 1,
  "splice-api-token-allocation-v1": 1,
  "splice-api-token-allocation-v2": 1,
  "splice-api-token-allocation-instruction-v1": 1,
  "splice-api-token-allocation-instruction-v2": 1,
  "splice-api-token-allocation-request-v1": 1,
  "splice-api-token-allocation-request-v2": 1,
  "splice-api-token-transfer-events-v2": 1,
};

const info = (registrar?: string): string => `${registry(registrar)}/metadata/v1/info`;
const instruments = (query = "", registrar?: string): string =>
  `${registry(registrar)}/metadata/v1/instruments${query === "" ? "" : `?${query}`}`;
const instrument = (id: string, registrar?: string): string =>
  `${registry(registrar)}/metadata/v1/instruments/${encodeURIComponent(id)}`;

const other = "other::1220";
const factory = (registrar: string = parties.registrar): JsonObject =>
  element("AllocationFactory", `factory of ${registrar}`, payload.service({ registrar }));

/** A configuration of each id. */
const configurations = (ids: readonly string[], registrar: string = parties.registrar): JsonObject[] =>
  ids.map((id) =>
    element("InstrumentConfiguration", `${id} of ${registrar}`, payload.configuration(id, { registrar })),
  );

/** An instrument without name, symbol and decimals. */
const plain = (id: string): JsonObject => ({ id, name: id, symbol: id, decimals: 10, supportedApis });

interface Page {
  readonly ids: string[];
  readonly next: string | undefined;
}

function pageIn({ status, body }: Answer): Page {
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  const { instruments: listed, nextPageToken: next } = body as unknown as {
    readonly instruments: readonly { readonly id: string }[];
    readonly nextPageToken?: string;
  };
  return { ids: listed.map(({ id }) => id), next };
}

const token = (next: string | undefined): string => `pageToken=${encodeURIComponent(next ?? "none")}`;

/** The ids of all pages, from a token on. */
async function pages(running: Running, pageSize: number, registrar?: string): Promise<string[][]> {
  const found: string[][] = [];
  let next: string | undefined = "";
  while (next !== undefined) {
    const page = pageIn(await running.get(instruments(`pageSize=${pageSize}&${token(next)}`, registrar)));
    found.push(page.ids);
    ({ next } = page);
    if (found.length > 1_000) throw new Error("the pages do not end");
  }
  return found;
}

const reversed = (text: string): string => Array.from(text).toReversed().join("");

/** `i-00`, `i-01`, … */
const numbered = (count: number, digits = 2): string[] =>
  Array.from({ length: count }, (_, index) => `i-${String(index).padStart(digits, "0")}`);

describe("info", () => {
  test("has the registrar and the supported APIs", async () => {
    const running = await serving([factory(), ...configurations(["USD"])]);
    const { status, headers, body } = await running.get(info());
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(body).toEqual({ adminId: parties.registrar, supportedApis });
  });

  test("needs no instrument, and no factory on a synchronizer", async () => {
    const away = element("AllocationFactory", "factory", payload.service(), { moving: "unassigned" });
    const running = await serving([away]);
    expect((await running.get(info())).body).toEqual({ adminId: parties.registrar, supportedApis });
    expect((await running.get(instruments())).body).toEqual({ instruments: [] });
  });

  test("accepts the party as it is, and percent-encoded", async () => {
    const running = await serving([factory()]);
    for (const party of ["registrar::1220", "registrar%3A%3A1220", "registrar%3a%3a1220"]) {
      const path = `/api/token-standard/v0/registrars/${party}/registry/metadata/v1/info`;
      expect((await running.get(path)).body).toMatchObject({ adminId: "registrar::1220" });
    }
  });
});

describe("a registrar that is not served", () => {
  test.each<[string, string]>([
    ["info", info("nobody::1220")],
    ["instruments", instruments("", "nobody::1220")],
    ["an instrument", instrument("USD", "nobody::1220")],
  ])("is 404, and the message names it: %s", async (_what, path) => {
    const running = await serving([factory(), ...configurations(["USD"]), ...configurations(["USD"], "nobody::1220")]);
    expect(short(await running.get(path))).toEqual(failure(404, "nobody::1220"));
  });

  test("is not matched by a part of its name, or in another case", async () => {
    const running = await serving([factory(), ...configurations(["USD"])]);
    for (const registrar of ["registrar::122", "registrar::12200", "Registrar::1220", " registrar::1220"]) {
      expect((await running.get(info(registrar))).status).toBe(404);
    }
  });
});

describe("instruments", () => {
  let running: Running;
  const many = numbered(60);
  beforeAll(async () => {
    const shuffled = many.toSorted((a, b) => (reversed(a) < reversed(b) ? -1 : 1));
    running = await serve([
      factory(),
      factory(other),
      ...configurations(shuffled),
      ...configurations(["X", "Y"], other),
    ]);
  });
  afterAll(() => running.close());

  test("are sorted by id, 25 per page by default", async () => {
    const first = pageIn(await running.get(instruments()));
    expect(first.ids).toEqual(many.slice(0, 25));
    const second = pageIn(await running.get(instruments(token(first.next))));
    expect(second.ids).toEqual(many.slice(25, 50));
    const third = await running.get(instruments(token(second.next)));
    expect(pageIn(third)).toEqual({ ids: many.slice(50), next: undefined });
    expect(third.body).not.toHaveProperty("nextPageToken");
  });

  test("have all known fields, and no others", async () => {
    const { status, headers, body } = await running.get(instruments("", other));
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(body).toEqual({ instruments: [plain("X"), plain("Y")] });
  });

  test.each([1, 7, 20, 59, 60, 61, 1_000])("have the requested page size: %i", async (pageSize) => {
    const expected: string[][] = [];
    for (let from = 0; from < many.length; from += pageSize) expected.push(many.slice(from, from + pageSize));
    expect(await pages(running, pageSize)).toEqual(expected);
  });

  test("start from the beginning for an empty token", async () => {
    expect(pageIn(await running.get(instruments("pageSize=2&pageToken="))).ids).toEqual(many.slice(0, 2));
  });

  test("accept proto field names and unknown parameters", async () => {
    const query = "page_size=2&page_token=&unknown=1&unknown=2&registrarParty=nobody";
    expect(pageIn(await running.get(instruments(query))).ids).toEqual(many.slice(0, 2));
  });

  test("accept another size with a token", async () => {
    const { next } = pageIn(await running.get(instruments("pageSize=3")));
    expect(pageIn(await running.get(instruments(`pageSize=2&${token(next)}`))).ids).toEqual(many.slice(3, 5));
  });

  test("are the same each time a token is used", async () => {
    const { next } = pageIn(await running.get(instruments("pageSize=3")));
    const [first, second] = [await running.get(instruments(token(next))), await running.get(instruments(token(next)))];
    expect(second.body).toEqual(first.body);
  });

  test("accept trailing and double slashes in the path", async () => {
    for (const path of [`${instruments()}/?pageSize=1`, `/${instruments("pageSize=1")}`]) {
      expect(pageIn(await running.get(path)).ids).toEqual(["i-00"]);
    }
  });

  test.each([
    "pageSize=0",
    "pageSize=-1",
    "pageSize=x",
    "pageSize=1.5",
    "pageSize=",
    "pageSize=%205",
    "pageSize=1&pageSize=2",
    "pageSize=25&pageSize=25",
    "pageSize=1099511627776",
    "pageSize=2147483648",
    "pageSize=-2147483649",
    "pageSize=99999999999999999999",
    "pageSize=null",
    "pageSize=true",
  ])("are 400 for %s", async (query) => {
    expect(short(await running.get(instruments(query)))).toEqual(failure(400, "pageSize"));
  });

  test("are 400 for a size under both names", async () => {
    expect((await running.get(instruments("pageSize=1&page_size=2"))).status).toBe(400);
  });

  test("are 400 for a wrong size, even if the registrar is unknown", async () => {
    expect((await running.get(instruments("pageSize=0", "nobody::1220"))).status).toBe(400);
  });

  test("are 400 for a token of another registrar", async () => {
    const { next } = pageIn(await running.get(instruments("pageSize=1", other)));
    expect(next).toBeDefined();
    expect(short(await running.get(instruments(token(next))))).toEqual(failure(400, "pageToken"));
    expect(pageIn(await running.get(instruments(token(next), other))).ids).toEqual(["Y"]);
  });

  test("are 400 for a changed token", async () => {
    const { next = "" } = pageIn(await running.get(instruments("pageSize=1")));
    const changed = [
      next.slice(0, -1),
      next.slice(1),
      `${next}A`,
      `${next}=`,
      `${next}==`,
      `${next} `,
      ` ${next}`,
      `${next}\n`,
      next.toLowerCase(),
      `${next}${next}`,
      reversed(next),
    ];
    for (const pageToken of changed.filter((one) => one !== next)) {
      const answer = await running.get(instruments(`pageToken=${encodeURIComponent(pageToken)}`));
      expect({ pageToken, ...short(answer) }).toEqual({ pageToken, ...failure(400, "pageToken") });
    }
  });

  test.each([
    "x",
    "1",
    "null",
    "[]",
    "i-03",
    "😀",
    Buffer.from("[]").toString("base64url"),
    Buffer.from("null").toString("base64url"),
    Buffer.from('["registrar::1220"]').toString("base64url"),
    Buffer.from('["registrar::1220",5]').toString("base64url"),
    Buffer.from('{"0":"registrar::1220","1":"i-03"}').toString("base64url"),
    "A".repeat(8_192),
    "A".repeat(9_000),
  ])("are 400 for a made-up token", async (pageToken) => {
    const answer = await running.get(instruments(`pageToken=${encodeURIComponent(pageToken)}`));
    expect(short(answer)).toEqual(failure(400, "pageToken"));
  });

  test("are 400 for two tokens", async () => {
    const { next } = pageIn(await running.get(instruments("pageSize=1")));
    const answer = await running.get(instruments(`${token(next)}&${token(next)}`));
    expect(short(answer)).toEqual(failure(400, "pageToken"));
  });

  test("are at most 1,000 per page", async () => {
    const thousands = numbered(1_005, 4);
    const large = await serving([factory(), ...configurations(thousands)]);
    for (const pageSize of [1_000, 1_001, 5_000, 2_147_483_647]) {
      const first = pageIn(await large.get(instruments(`pageSize=${pageSize}`)));
      expect(first.ids).toEqual(thousands.slice(0, 1_000));
      const second = pageIn(await large.get(instruments(`pageSize=${pageSize}&${token(first.next)}`)));
      expect(second).toEqual({ ids: thousands.slice(1_000), next: undefined });
    }
  });

  test("are paged whatever characters their ids contain", async () => {
    const ids = [
      "",
      " ",
      "a",
      "A",
      "a b",
      "é",
      "e\u0301",
      "%",
      "100%",
      "a/b",
      '"',
      "\\",
      "😀",
      "\uFFFD",
      "日本語",
      "\n",
    ];
    const awkward = ids.filter((id) => id !== "");
    const found = await pages(await serving([factory(), ...configurations(awkward)]), 1);
    expect(found.flat().toSorted()).toEqual(awkward.toSorted());
    expect(found).toHaveLength(awkward.length);
  });

  test("are paged with long ids", async () => {
    const ids = numbered(3).map((id) => `${id}${"é".repeat(500)}`);
    expect(await pages(await serving([factory(), ...configurations(ids)]), 1)).toEqual(ids.map((id) => [id]));
  });
});

async function swap(running: Running, ids: readonly string[]): Promise<void> {
  const elements = [factory(), ...configurations(ids)];
  await writeFile(`${running.path}.next`, elements.map((one) => `${JSON.stringify(one)}\n`).join(""));
  await rename(`${running.path}.next`, running.path);
  await until("the change is served", async () => {
    const { ids: served } = pageIn(await running.get(instruments("pageSize=1000")));
    return JSON.stringify(served) === JSON.stringify(ids.toSorted());
  });
}

describe("while instruments are added and removed", () => {
  test("none of the others is skipped or listed twice", async () => {
    const running = await serving([factory(), ...configurations(["b", "d", "f", "h", "j"])]);
    const first = pageIn(await running.get(instruments("pageSize=2")));
    expect(first.ids).toEqual(["b", "d"]);
    // "a", "c" and "e" are added; "d", the last id of this page, is removed.
    await swap(running, ["a", "b", "c", "e", "f", "h", "j"]);
    const second = pageIn(await running.get(instruments(`pageSize=2&${token(first.next)}`)));
    expect(second.ids).toEqual(["e", "f"]);
    await swap(running, ["a", "h", "j", "k"]);
    const third = pageIn(await running.get(instruments(`pageSize=2&${token(second.next)}`)));
    expect(third.ids).toEqual(["h", "j"]);
    await swap(running, ["a", "b"]);
    expect((await running.get(instruments(`pageSize=2&${token(third.next)}`))).body).toEqual({ instruments: [] });
    expect((await running.get(instruments(`pageSize=2&${token(first.next)}`))).body).toEqual({ instruments: [] });
  });
});

/** Configurations with the same id and different additional ids. */
const usd = (contractId: string, isin: string, createdAt: string, more: { readonly moving?: "unassigned" } = {}) =>
  element(
    "InstrumentConfiguration",
    contractId,
    payload.configuration("USD", {
      additionalIdentifiers: [{ source: "isin", id: isin, scheme: "ISIN" }],
    }),
    { createdAt, ...more },
  );

describe("of several configurations of one id", () => {
  test("the newest counts, and the instrument is listed once", async () => {
    const running = await serving([
      factory(),
      usd("old", "old-isin", "2026-01-05T09:00:00.000001Z"),
      usd("new", "new-isin", "2026-01-05T09:00:00.000003Z"),
      usd("middle", "middle-isin", "2026-01-05T09:00:00.000002Z"),
      ...configurations(["EUR"]),
    ]);
    expect((await running.get(instruments())).body).toEqual({ instruments: [plain("EUR"), plain("USD")] });
    expect((await running.get(instrument("USD"))).body).toEqual(plain("USD"));
    expect((await running.get(instrument("new-isin"))).body).toEqual(plain("USD"));
    for (const id of ["old-isin", "middle-isin"]) {
      expect(short(await running.get(instrument(id)))).toEqual(failure(404, id));
    }
  });

  test("of those created at the same time the lowest contract id counts", async () => {
    const createdAt = "2026-01-05T09:00:00Z";
    const running = await serving([factory(), usd("b", "isin-b", createdAt), usd("a", "isin-a", createdAt)]);
    expect((await running.get(instrument("isin-a"))).status).toBe(200);
    expect((await running.get(instrument("isin-b"))).status).toBe(404);
  });

  test("one in reassignment counts too", async () => {
    const running = await serving([
      factory(),
      usd("old", "old-isin", "2026-01-05T09:00:00Z"),
      usd("new", "new-isin", "2026-01-06T09:00:00Z", { moving: "unassigned" }),
    ]);
    expect((await running.get(instruments())).body).toEqual({ instruments: [plain("USD")] });
    expect((await running.get(instrument("new-isin"))).body).toEqual(plain("USD"));
  });
});

/** A configuration in reassignment. */
const moving = (id: string, how: "unassigned" | "arriving"): JsonObject =>
  element("InstrumentConfiguration", id, payload.configuration(id), { moving: how });

describe("one instrument", () => {
  test("is found and listed while it is in reassignment", async () => {
    const running = await serving([factory(), moving("EUR", "arriving"), moving("USD", "unassigned")]);
    expect((await running.get(instruments())).body).toEqual({ instruments: [plain("EUR"), plain("USD")] });
    expect((await running.get(instrument("EUR"))).body).toEqual(plain("EUR"));
    expect((await running.get(instrument("USD"))).body).toEqual(plain("USD"));
  });

  test("is found by its default id and each other id, and has the default id", async () => {
    const additionalIdentifiers = [
      { source: "isin", id: "US0000000001", scheme: "ISIN" },
      { source: "figi", id: "BBG000000001", scheme: "FIGI" },
      { source: "again", id: "USD", scheme: "Again" },
    ];
    const running = await serving([
      factory(),
      element("InstrumentConfiguration", "usd", payload.configuration("USD", { additionalIdentifiers })),
    ]);
    for (const id of ["USD", "US0000000001", "BBG000000001"]) {
      const { status, body } = await running.get(instrument(id));
      expect({ id, status, body }).toEqual({ id, status: 200, body: plain("USD") });
    }
    expect((await running.get(instruments())).body).toEqual({ instruments: [plain("USD")] });
  });

  test("is found by its default id before another's additional id", async () => {
    const additionalIdentifiers = [{ source: "isin", id: "USD", scheme: "ISIN" }];
    const running = await serving([
      factory(),
      element("InstrumentConfiguration", "a", payload.configuration("A", { additionalIdentifiers }), {
        createdAt: "2026-02-05T09:00:00Z",
      }),
      element("InstrumentConfiguration", "usd", payload.configuration("USD")),
    ]);
    expect((await running.get(instrument("USD"))).body).toEqual(plain("USD"));
    expect((await running.get(instrument("A"))).body).toEqual(plain("A"));
  });

  test("of another registrar is not found", async () => {
    const running = await serving([factory(), factory(other), ...configurations(["USD"], other)]);
    expect(short(await running.get(instrument("USD")))).toEqual(failure(404, "USD", parties.registrar));
    expect((await running.get(instrument("USD", other))).body).toEqual(plain("USD"));
  });

  test.each(["GBP", "usd", "US", "USD ", "US/D", "null"])(
    "without a configuration is 404, and the message names it: %j",
    async (id) => {
      const running = await serving([factory(), ...configurations(["USD"])]);
      expect(short(await running.get(instrument(id)))).toEqual(failure(404, id, parties.registrar));
    },
  );

  test.each([
    "a/b",
    "/a",
    "a/",
    "/",
    "a//b",
    "//",
    "100%",
    "%",
    "%41",
    "%2F",
    "%25",
    "a b",
    " ",
    " a ",
    "a+b",
    "a?b=c",
    "a#b",
    "a&b",
    "a;b",
    "a:b",
    "a,b",
    "a\\b",
    "a.b",
    "...",
    "é",
    "e\u0301",
    "日本語",
    "😀",
    "'\"<>`{}|^[]",
    "\n",
    "info",
    "instruments",
    ":p1",
    "*",
    "constructor",
    "__proto__",
    "toString",
    "é".repeat(1_024),
  ])("may have the id %j", async (id) => {
    const running = await serving([factory(), ...configurations([id, "USD"])]);
    const { status, body } = await running.get(instrument(id));
    expect({ status, body }).toEqual({ status: 200, body: plain(id) });
  });

  test.each([".", ".."])("may have the id %j, which most clients resolve as a path segment", async (id) => {
    const running = await serving([factory(), ...configurations([id])]);
    const path = `${instruments()}/${id.replaceAll(".", "%2E")}`;
    expect(await raw(running.url, path)).toEqual({ status: 200, body: plain(id) });
  });

  test("cannot have an oversized id, or one that is not valid text", async () => {
    const running = await serving([factory(), ...configurations(["USD"])]);
    expect(short(await running.get(instrument("a".repeat(1_025))))).toEqual(failure(400, "instrumentId"));
    const broken = await running.get(`${instruments()}/%E0%A4%A`);
    expect(short(broken)).toEqual(failure(400));
  });
});

describe("a GET", () => {
  const paths: readonly [string, string][] = [
    ["info", info()],
    ["instruments", instruments("pageSize=1")],
    ["instrument", instrument("USD")],
  ];

  test.each(paths)("may have a JSON content type, any Authorization and any Accept: %s", async (_what, path) => {
    const running = await serving([factory(), ...configurations(["USD"])]);
    const expected = await running.get(path);
    expect(expected.status).toBe(200);
    for (const headers of [
      { "content-type": "application/json" },
      { "content-type": "application/json; charset=utf-8", authorization: "Bearer a.b.c" },
      { "content-type": "text/plain" },
      { accept: "*/*" },
      { accept: "application/json", origin: "https://wallet.example" },
    ]) {
      const response = await fetch(running.url + path, { headers });
      expect({ status: response.status, body: await response.json() }).toEqual({ status: 200, body: expected.body });
    }
  });

  test.each(paths)("is the only method: %s", async (_what, path) => {
    const running = await serving([factory(), ...configurations(["USD"])]);
    const { status, headers } = await running.post(path, {});
    expect({ status, allow: headers.get("allow") }).toEqual({ status: 405, allow: "GET, HEAD" });
  });
});

/** A GET whose path is not normalised by the client. */
async function raw(url: string, path: string): Promise<{ readonly status: number; readonly body: JsonValue }> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const [head = "", body = ""] = (await textOf(socket)).split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), body: JSON.parse(body) as JsonValue };
}
