/**
 * The checker of registries: this service passes; a registry that differs from it in one way fails in that way, and in no other.
 * The faults are made on the way from the service to the checker.
 */
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readBlob } from "../../packages/conformance/src/blob.js";
import type { Result } from "../../packages/conformance/src/check.js";
import { failsFrom, type Given, run, type Run } from "../../packages/conformance/src/run.js";
import { contractId } from "../../demo/element.js";
import { isObject, type JsonObject, type JsonValue } from "../../src/util/json.js";
import { demo, PATH, withChecks } from "../../scripts/conformance-doc.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { recording } from "../localnet/replay.js";

const known = demo;
/** Of information, what it says; of what needs more than is given, why it was skipped. */
const quiet = new Set(["unlisted-apis", "offered", "timing"]);
const options = { headers: {}, rate: 1_000 };

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonValue;
}
/** Changes an answer; a request has its method, path and the number of it. */
type Fault = (
  answer: Answer,
  request: {
    readonly method: string;
    /** Decoded, after the registrar. */
    readonly path: string;
    readonly raw: string;
    readonly headers: IncomingHttpHeaders;
    readonly hasBody: boolean;
    readonly body: string;
    readonly count: number;
  },
) => Answer;

let service: Running;
let fault: Fault = (answer) => answer;
let count = 0;
const between = createServer((request, response) => {
  void (async () => {
    const { method = "", url = "", headers } = request;
    const body = await buffer(request);
    const sent = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      typeof value === "string" && !["host", "connection", "content-length"].includes(name) ? [[name, value]] : [],
    );
    const came = await fetch(service.url + url, {
      method,
      headers: sent,
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    });
    const text = await came.text();
    const kept = ["content-type", "access-control-allow-origin", "access-control-allow-headers", "retry-after"];
    const changed = fault(
      {
        status: came.status,
        headers: Object.fromEntries(
          kept.flatMap((name) => {
            const value = came.headers.get(name);
            return value === null ? [] : [[name, value]];
          }),
        ),
        body: text === "" ? null : (JSON.parse(text) as JsonValue),
      },
      {
        method,
        path: decodeURIComponent(url).slice(PATH.length),
        raw: url,
        headers,
        hasBody: body.length > 0,
        body: body.toString(),
        count: ++count,
      },
    );
    response.writeHead(changed.status, changed.headers).end(changed.body === null ? "" : JSON.stringify(changed.body));
  })();
});
let base = "";

beforeAll(async () => {
  service = await serveFile(undefined);
  between.listen(0, "127.0.0.1");
  await once(between, "listening");
  base = `http://127.0.0.1:${(between.address() as AddressInfo).port}${PATH}`;
});
afterAll(async () => {
  between.close();
  await service.close();
});

const hasFailed = ({ results }: Run) => results.some((result) => failsFrom(result, "habit"));

async function checked(own: Fault, given: Partial<Given> = {}) {
  fault = own;
  const results: Result[] = [];
  const done = await run(base, { ...known, ...given }, options, (result) => void results.push(result));
  const failed = results.filter(({ outcome }) => outcome === "failed").map(({ check }) => check.id);
  return { done, results, failed };
}

test("this service passes every check", async () => {
  const { results, done } = await checked((answer) => answer, { replica: service.url + PATH });
  const said = results.filter(({ check, outcome, message }) =>
    quiet.has(check.id) ? outcome !== "passed" : message !== undefined,
  );
  expect(said.map(({ check, message }) => `${check.id}: ${message}`)).toEqual([]);
  expect([done.warning, hasFailed(done)]).toEqual([undefined, false]);
  const page = readFileSync("docs/conformance.md", "utf8");
  expect(withChecks(page, results), "npm run conformance writes it").toBe(page);
});

/** Changes each object in an answer's JSON. */
const each =
  (change: (value: JsonObject) => JsonObject) =>
  (answer: Answer): Answer => {
    const changed = (value: JsonValue): JsonValue => {
      if (Array.isArray(value)) return value.map(changed);
      return isObject(value)
        ? change(Object.fromEntries(Object.entries(value).map(([name, one]) => [name, changed(one)])))
        : value;
    };
    return { ...answer, body: changed(answer.body) };
  };
const at =
  (part: string, own: Fault): Fault =>
  (answer, request) =>
    request.path.includes(part) ? own(answer, request) : answer;
const ok =
  (own: Fault): Fault =>
  (answer, request) =>
    answer.status === 200 ? own(answer, request) : answer;
/** Changes each object that has a member, in answers that are successes. */
const having = (name: string, change: JsonObject | ((value: JsonObject) => JsonObject)) =>
  ok(
    each((value) => (name in value ? { ...value, ...(typeof change === "function" ? change(value) : change) } : value)),
  );
const refusing =
  (status: number, isRefused: (request: Parameters<Fault>[1], answer: Answer) => boolean): Fault =>
  (answer, request) =>
    isRefused(request, answer) ? { ...answer, status, body: { error: "refused" } } : answer;
const page = (change: Parameters<typeof having>[1]) => at("/instruments", having("instruments", change));
/** The same with the number of the request. */
const counted =
  (own: (count: number) => Fault): Fault =>
  (answer, request) =>
    own(request.count)(answer, request);
const listOf = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);
const disclosed = (change: (list: readonly JsonValue[]) => JsonValue[]) =>
  having("disclosedContracts", ({ disclosedContracts: list }) => ({ disclosedContracts: change(listOf(list)) }));

test.each<[what: string, fault: Fault, failed: readonly string[]]>([
  [
    "no adminId",
    at(
      "/info",
      each(({ adminId: _id, ...others }) => others),
    ),
    ["info", "info-admin"],
  ],
  ["another adminId", at("/info", having("adminId", { adminId: "other::1220" })), ["info-admin"]],
  [
    "an instrument twice",
    page(({ instruments }) => ({ instruments: [...listOf(instruments), ...listOf(instruments)] })),
    ["paging-ends", "page-size"],
  ],
  ["the same page for ever", page({ nextPageToken: "again" }), ["paging-ends"]],
  [
    "the same page for ever, with a new token each time",
    counted((number) => page({ nextPageToken: String(number) })),
    ["paging-ends"],
  ],
  [
    "self transfers of version 2 as offers",
    at("/v2/", having("transferKind", { transferKind: "offer" })),
    ["transfer-kind"],
  ],
  ["a supply with separators", having("symbol", { totalSupply: "1_000_000" }), ["total-supply"]],
  ["eleven decimals", having("symbol", { decimals: 11 }), ["decimals"]],
  ["another name by id", at("/instruments/", having("symbol", { name: "other" })), ["instrument-by-id"]],
  [
    "anything for an unknown instrument",
    at("no-such-instrument", (answer) => ({ ...answer, status: 200, body: {} })),
    ["unknown-instrument"],
  ],
  [
    "an error without a text",
    at("no-such-instrument", (answer) => ({ ...answer, body: { message: "no" } })),
    ["unknown-instrument"],
  ],
  [
    "minor versions of 0",
    having("symbol", { supportedApis: { "splice-api-token-holding-v1": 0 } }),
    ["supported-apis"],
  ],
  ["no context data", having("choiceContextData", { choiceContextData: {} }), ["context-values"]],
  [
    "an unknown tag",
    having("tag", ({ tag }) => (tag === "AV_ContractId" ? { tag: "ContractId" } : {})),
    ["context-values"],
  ],
  [
    "contexts that are null",
    having("choiceContextData", { choiceContextData: null }),
    ["operations-answer", "context-values"],
  ],
  ["no disclosed factory", disclosed(() => []), ["factory-disclosed"]],
  ["contracts twice", disclosed((list) => [...list, ...list]), ["disclosed-once"]],
  [
    "the blob of another contract",
    disclosed((list) => {
      const [blob] = list.flatMap((one) => (isObject(one) ? [one["createdEventBlob"] ?? null] : []));
      return list.map((one, index) => (isObject(one) && index > 0 ? { ...one, createdEventBlob: blob ?? null } : one));
    }),
    ["blobs"],
  ],
  [
    "blobs in base64url",
    having("createdEventBlob", ({ createdEventBlob: blob }) => ({
      createdEventBlob: `${(blob as string).replaceAll("=", "")}-_`,
    })),
    ["blobs"],
  ],
  ["another template", having("createdEventBlob", { templateId: "aa:Other:Template" }), ["blobs"]],
  [
    "two synchronizers",
    disclosed((list) =>
      list.map((one, index) => (isObject(one) ? { ...one, synchronizerId: `sync-${index}::1` } : one)),
    ),
    ["one-synchronizer"],
  ],
  ["self transfers as offers", having("transferKind", { transferKind: "offer" }), ["transfer-kind"]],
  [
    "another answer each time",
    counted((number) =>
      having("choiceContextData", { choiceContextData: { values: { now: { tag: "AV_Int", value: String(number) } } } }),
    ),
    ["same-answer"],
  ],
  [
    "no types",
    (answer) => ({ ...answer, headers: { ...answer.headers, "content-type": "text/plain" } }),
    ["json-type"],
  ],
  [
    "preflights without headers",
    (answer, { method }) =>
      method === "OPTIONS" ? { ...answer, headers: { "access-control-allow-origin": "*" } } : answer,
    ["preflight"],
  ],
  ["parties as they are alone", refusing(404, ({ raw }) => raw.includes("%3A%3A")), ["party-forms"]],
  [
    "bodies that are there alone",
    refusing(400, ({ method, hasBody }) => method === "POST" && !hasBody),
    ["body-forms"],
  ],
  [
    "an API that is listed and not served",
    at(
      "/allocation-instruction/v1",
      refusing(501, () => true),
    ),
    ["listed-apis"],
  ],
  [
    "another path of what is listed",
    at("/allocations/v1", (answer) => ({ ...answer, status: 404, body: "Cannot POST" })),
    ["listed-apis"],
  ],
  [
    "500 for what it cannot read",
    refusing(500, ({ method }, { status }) => method === "POST" && status === 400),
    ["malformed-body"],
  ],
  [
    "a context for any contract",
    (answer, { path }) =>
      path.includes("abab")
        ? { ...answer, status: 200, body: { choiceContextData: { values: {} }, disclosedContracts: [] } }
        : answer,
    ["unknown-contract"],
  ],
  [
    "contexts of version 2 that name the holdings",
    at("/v2/", (answer, request) =>
      having("choiceContextData", ({ choiceContextData: data = null }) => {
        if (!isObject(data) || !request.body.includes(contractId("holding free"))) return {};
        const named = { tag: "AV_Text", value: "some holding" };
        return { choiceContextData: { values: { ...(data["values"] as JsonObject), named } } };
      })(answer, request),
    ),
    ["prefetch"],
  ],
  ["paths without a slash at the end alone", refusing(404, ({ path }) => path.endsWith("/")), ["path-forms"]],
  [
    "a content type of a GET",
    refusing(415, ({ method, headers }) => method === "GET" && headers["content-type"] !== undefined),
    ["get-with-content-type"],
  ],
  ["no use for a token", refusing(401, ({ headers }) => headers.authorization !== undefined), ["authorization"]],
  ["any method", (answer, { method }) => (method === "DELETE" ? { ...answer, status: 200 } : answer), ["method"]],
  ["metadata under values alone", refusing(400, ({ body }) => body.includes("example.com/reason")), ["body-forms"]],
  [
    "answers that no browser may read",
    (answer, { method }) =>
      method === "GET" ? { ...answer, headers: { "content-type": "application/json" } } : answer,
    ["preflight"],
  ],
  [
    "instruments that do not exist",
    (answer, { body }) =>
      body.includes("no-such-instrument") ? { ...answer, status: 200, body: { transferKind: "offer" } } : answer,
    ["foreign-instrument"],
  ],
  [
    "no allocation's factory disclosed",
    at(
      "/allocation-instruction/",
      disclosed(() => []),
    ),
    ["factory-disclosed"],
  ],
])("a registry with %s", async (_what, own, expected) => {
  const { failed } = await checked(own);
  expect(failed).toEqual(expected);
});

test.each<[what: string, fault: Fault]>([
  ["that is busy", (answer) => ({ ...answer, status: 503, body: { error: "busy" } })],
  [
    "that lets callers in for contexts alone",
    at("/metadata/", (answer) => ({ ...answer, status: 403, body: { error: "no token" } })),
  ],
  [
    "at another address",
    (answer) => ({ ...answer, status: 308, headers: { location: "https://registry.example" }, body: null }),
  ],
  [
    "with a page in HTML where it serves nothing",
    at("/v2/", (answer) => ({ ...answer, headers: { "content-type": "text/html" }, body: null })),
  ],
  [
    "behind a gateway that refuses in words what it does not serve",
    at("/v2/", (answer) => ({ ...answer, status: 400, headers: { "content-type": "text/plain" }, body: "no route" })),
  ],
  [
    "that lists less than it says by id",
    (answer, { path }) =>
      path.includes("/instruments?") || path.endsWith("/instruments")
        ? each(({ totalSupply: _supply, totalSupplyAsOf: _at, ...others }) => others)(answer)
        : answer,
  ],
  ["whose supply Scala has written", having("symbol", { totalSupply: "0E-10" })],
])("a registry %s breaks no sentence", async (_what, own) => {
  const { results } = await checked(own);
  const broken = results.filter(({ outcome, check }) => outcome === "failed" && check.severity === "must");
  expect(broken.map(({ check, message }) => `${check.id}: ${message}`)).toEqual([]);
});

test("a registry that answers any admin is found, where wrong requests are sent", async () => {
  const accepts: Fault = (answer, { path }) =>
    path.endsWith("/v1/transfer-factory") && answer.status !== 200 ? { ...answer, status: 200 } : answer;
  expect((await checked(accepts)).failed).toContain("foreign-instrument");
  expect((await checked(accepts, { negative: false })).failed).not.toContain("foreign-instrument");
});

test("a failure that is gone at the second look is unstable, and fails nothing", async () => {
  let isFirst = true;
  const { results, done } = await checked(
    at("/info", (answer) => {
      if (!isFirst) return answer;
      isFirst = false;
      return { ...answer, status: 500 };
    }),
  );
  expect(results.find(({ check }) => check.id === "info")).toMatchObject({
    outcome: "unstable",
    message: "the status is 500, not 200",
  });
  expect(hasFailed(done)).toBe(false);
});

test("a context that is right at the second look is unstable too", async () => {
  let asked = 0;
  const undisclosed = disclosed(() => []);
  const { results, failed } = await checked((answer, request) =>
    request.path.endsWith("instruction/v1/transfer-factory") && answer.status === 200 && ++asked === 1
      ? undisclosed(answer, request)
      : answer,
  );
  const outcome = results.find(({ check }) => check.id === "factory-disclosed")?.outcome;
  expect([outcome, failed]).toEqual(["unstable", []]);
});

test("a registry that has the same plausible answer to everything fails in many ways, each with what is wrong", async () => {
  const supportedApis = { "splice-api-token-holding-v1": 1, "splice-api-token-transfer-instruction-v1": 1 };
  const bond = { id: "ACME-BOND", name: "Bond", symbol: "BOND", decimals: 2, supportedApis };
  const context = { choiceContextData: { values: {} }, disclosedContracts: [] };
  const all = { ...bond, ...context, adminId: demo.registrar ?? "", instruments: [bond] };
  const body: JsonObject = { ...all, factoryId: "00", transferKind: "offer", choiceContext: context };
  const { results, failed } = await checked((answer) => ({ ...answer, status: 200, body }));
  expect(failed).toEqual([
    "unknown-instrument",
    "factory-disclosed",
    "transfer-kind",
    "foreign-instrument",
    "malformed-body",
    "unknown-contract",
    "method",
  ]);
  const said = results.filter(({ outcome }) => outcome === "failed").map(({ message }) => message);
  expect(said).toContain("getAllocationFactory: the factory 00 is not disclosed");
  expect(said).toContain("a transfer to oneself is offer");
});

test("a registry that refuses everything, or knows nothing, is no silent pass", async () => {
  const unknown = await checked((answer) => ({ ...answer, status: 404, body: { error: "not found" } }));
  expect(unknown.done.warning).toMatch(/^most answers are 404/);
  const refused = await checked((answer) => ({ ...answer, status: 401, body: { error: "no token" } }));
  expect(refused.done.warning).toMatch(/^most answers are 401/);
});

const noted = async (own: Fault, id: string, given: Partial<Given> = {}) => {
  const { results } = await checked(own, given);
  const { outcome, message } = results.find(({ check }) => check.id === id) ?? {};
  return [outcome, message];
};

test("what is no fault is told: a contract that changes, and one that is named and not disclosed", async () => {
  const renewed = at(
    "factory",
    counted((number) => having("tag", ({ tag }) => (tag === "AV_ContractId" ? { value: `00${number}` } : {}))),
  );
  expect(await noted(renewed, "same-answer")).toEqual(["passed", expect.stringMatching(/^a contract has changed/)]);
  const named = disclosed((list) => list.slice(0, 1));
  expect(await noted(named, "ids-in-values")).toEqual(["passed", expect.stringContaining("does not disclose")]);
});

test("a replica that answers otherwise is found", async () => {
  expect(await noted((answer) => answer, "replicas", { replica: service.url + PATH })).toEqual(["passed", undefined]);
  const other = having("choiceContextData", { disclosedContracts: [] });
  expect((await noted(other, "replicas", { replica: service.url + PATH }))[0]).toBe("failed");
});

test("the registrar and an instrument are found where they are not given", async () => {
  const { results, failed } = await checked((answer) => answer, { registrar: undefined, instruments: [] });
  expect(failed).toEqual([]);
  expect(results.find(({ check }) => check.id === "factory-disclosed")?.outcome).toBe("passed");
});

describe("a blob", () => {
  test("of a real ledger says which contract it is", () => {
    const blobs = JSON.stringify(recording.moves).matchAll(
      /"templateId":"([^"]+)","contractId":"([^"]+)","createdEventBlob":"([^"]+)"/g,
    );
    const found = [...blobs];
    expect(found.length).toBeGreaterThan(0);
    for (const [, templateId, id, blob = ""] of found) expect(readBlob(blob)).toEqual({ contractId: id, templateId });
  });

  test.each(["", "AAAA", "CgMyLjES", "/////w=="])("%j is none", (text) => {
    expect(readBlob(text)).toBeUndefined();
  });
});
