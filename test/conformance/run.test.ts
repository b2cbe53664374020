/**
 * The checker of registries: this service passes; a registry that differs from it in one way fails in that way, and in no other.
 * The faults are made on the way from the service to the checker.
 */
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readBlob } from "../../packages/conformance/src/blob.js";
import type { Result } from "../../packages/conformance/src/check.js";
import type { Known } from "../../packages/conformance/src/registry.js";
import { hasFailed, run } from "../../packages/conformance/src/run.js";
import { contractId } from "../../demo/element.js";
import { isObject, type JsonObject, type JsonValue } from "../../src/util/json.js";
import { acme, alice, bob } from "../fixtures/calls/build.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { recording } from "../localnet/replay.js";

const known: Known = {
  registrar: acme,
  instrument: "ACME-BOND",
  sender: alice,
  receiver: bob,
  holdings: [],
  offer: contractId("offer bond to bob"),
  allocation: contractId("allocation bond leg"),
  negative: true,
};
const PATH = `/api/token-standard/v0/registrars/${acme}`;
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
    readonly hasBody: boolean;
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
        hasBody: body.length > 0,
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

async function checked(own: Fault, given: Partial<Known> = {}) {
  fault = own;
  const results: Result[] = [];
  const done = await run(base, { ...known, ...given }, options, (result) => void results.push(result));
  const failed = results.filter(({ outcome }) => outcome === "failed").map(({ check }) => check.id);
  return { done, results, failed };
}

test("this service passes every check", async () => {
  const { results, done } = await checked((answer) => answer);
  expect(
    results.filter(({ outcome }) => outcome !== "passed").map(({ check, message }) => `${check.id}: ${message}`),
  ).toEqual([]);
  expect([done.warning, hasFailed(done, "habit")]).toEqual([undefined, false]);
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
const disclosed = (change: (list: readonly JsonValue[]) => JsonValue[]) =>
  ok(
    each((value) => {
      const list = value["disclosedContracts"];
      return Array.isArray(list) ? { ...value, disclosedContracts: change(list) } : value;
    }),
  );

test.each<[what: string, fault: Fault, failed: readonly string[]]>([
  [
    "no adminId",
    at(
      "/info",
      each(({ adminId: _id, ...others }) => others),
    ),
    ["info", "info-admin"],
  ],
  [
    "another adminId",
    at(
      "/info",
      each((value) => ("adminId" in value ? { ...value, adminId: "other::1220" } : value)),
    ),
    ["info-admin"],
  ],
  [
    "an instrument twice",
    at(
      "/instruments",
      ok(
        each((value) =>
          Array.isArray(value["instruments"])
            ? { ...value, instruments: [...value["instruments"], ...value["instruments"]] }
            : value,
        ),
      ),
    ),
    ["paging-ends", "page-size"],
  ],
  [
    "the same page for ever",
    at("/instruments", ok(each((value) => ("instruments" in value ? { ...value, nextPageToken: "again" } : value)))),
    ["paging-ends"],
  ],
  [
    "a supply with separators",
    ok(each((value) => ("symbol" in value ? { ...value, totalSupply: "1_000_000" } : value))),
    ["total-supply"],
  ],
  ["eleven decimals", ok(each((value) => ("symbol" in value ? { ...value, decimals: 11 } : value))), ["decimals"]],
  [
    "another name by id",
    at("/instruments/", ok(each((value) => ("symbol" in value ? { ...value, name: "other" } : value)))),
    ["instrument-by-id"],
  ],
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
    ok(
      each((value) => ("symbol" in value ? { ...value, supportedApis: { "splice-api-token-holding-v1": 0 } } : value)),
    ),
    ["supported-apis"],
  ],
  [
    "no context data",
    ok(each((value) => ("choiceContextData" in value ? { ...value, choiceContextData: {} } : value))),
    ["context-values"],
  ],
  [
    "an unknown tag",
    ok(each((value) => (value["tag"] === "AV_ContractId" ? { ...value, tag: "ContractId" } : value))),
    ["context-values"],
  ],
  [
    "contexts that are null",
    ok(each((value) => ("choiceContextData" in value ? { ...value, choiceContextData: null } : value))),
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
    ok(
      each((value) =>
        typeof value["createdEventBlob"] === "string"
          ? { ...value, createdEventBlob: value["createdEventBlob"].replaceAll("=", "") + "-_" }
          : value,
      ),
    ),
    ["blobs"],
  ],
  [
    "another template",
    ok(each((value) => ("createdEventBlob" in value ? { ...value, templateId: "aa:Other:Template" } : value))),
    ["blobs"],
  ],
  [
    "two synchronizers",
    disclosed((list) =>
      list.map((one, index) => (isObject(one) ? { ...one, synchronizerId: `sync-${index}::1` } : one)),
    ),
    ["one-synchronizer"],
  ],
  [
    "self transfers as offers",
    ok(each((value) => ("transferKind" in value ? { ...value, transferKind: "offer" } : value))),
    ["transfer-kind"],
  ],
  [
    "another answer each time",
    ok((answer, { count: number }) =>
      each((value) =>
        "choiceContextData" in value
          ? { ...value, choiceContextData: { values: { now: { tag: "AV_Int", value: String(number) } } } }
          : value,
      )(answer),
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
  [
    "parties as they are alone",
    (answer, { raw }) => (raw.includes("%3A%3A") ? { ...answer, status: 404, body: { error: "unknown" } } : answer),
    ["party-forms"],
  ],
  [
    "bodies that are there alone",
    (answer, { method, hasBody }) =>
      method === "POST" && !hasBody ? { ...answer, status: 400, body: { error: "no body" } } : answer,
    ["body-forms"],
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

test("a registry that answers any admin is found, where wrong requests are sent", async () => {
  const accepts: Fault = (answer, { path }) =>
    path.endsWith("/v1/transfer-factory") && answer.status !== 200 ? { ...answer, status: 200 } : answer;
  expect((await checked(accepts)).failed).toContain("foreign-admin");
  expect((await checked(accepts, { negative: false })).failed).not.toContain("foreign-admin");
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
  expect(hasFailed(done, "habit")).toBe(false);
});

test("a context that is right at the second look is unstable too", async () => {
  let asked = 0;
  const undisclosed = disclosed(() => []);
  // The first request is that of the shapes, the second that of all checks of contexts.
  const { results, failed } = await checked((answer, request) =>
    request.path.endsWith("instruction/v1/transfer-factory") && answer.status === 200 && ++asked === 2
      ? undisclosed(answer, request)
      : answer,
  );
  const outcome = results.find(({ check }) => check.id === "factory-disclosed")?.outcome;
  expect([outcome, failed]).toEqual(["unstable", []]);
});

test("a registry that refuses everything, or knows nothing, is no silent pass", async () => {
  const unknown = await checked((answer) => ({ ...answer, status: 404, body: { error: "not found" } }));
  expect(unknown.done.warning).toMatch(/^most answers are 404/);
  const refused = await checked((answer) => ({ ...answer, status: 401, body: { error: "no token" } }));
  expect(refused.done.warning).toMatch(/^most answers are 401/);
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
