/** The document that the service gives of itself: it is valid, it says what is served, and every answer is as it says. */
import { readFile } from "node:fs/promises";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answered, calls } from "../fixtures/calls/index.js";
import { type Document, isAt, OpenApi, routeOf } from "../fixtures/openapi.js";
import type { Call } from "../fixtures/protocols.js";
import { rpcs } from "../fixtures/services.js";
import { type Exchange, Scenarios, callDuringShutdown } from "../fixtures/scenarios.js";
import { openApi30 } from "./openapi-3.0.js";

const file = JSON.parse(await readFile(new URL("../../gen/openapi.json", import.meta.url), "utf8")) as Document;
const own = new OpenApi(file);
const operations = [...own.operations];

let situations: Scenarios;
const exchanges = new Map<Call, readonly Exchange[]>();
beforeAll(async () => {
  situations = await Scenarios.start();
  const all = Object.values(calls);
  const stopping = await callDuringShutdown(all);
  for (const [index, call] of all.entries()) {
    exchanges.set(call, [...(await situations.exchanges(call)), ...stopping.slice(index, index + 1)]);
  }
});
afterAll(() => situations.close());

const of = (call: Call | undefined): readonly Exchange[] => (call && exchanges.get(call)) ?? [];
const exchangesAt = (route: string) =>
  Object.values(calls)
    .filter(({ method }) => routeOf(method) === route)
    .flatMap(of);

/** What one call is answered in one situation. */
function answerTo(name: string, situation = "on the demo registry"): { route: string; body: JsonObject } {
  const call = calls[name];
  const found = of(call).find((one) => one.situation === situation);
  if (call === undefined || found === undefined) throw new Error(`there is no answer to ${name} ${situation}`);
  return { route: routeOf(call.method), body: found.body as JsonObject };
}

describe("the document", () => {
  test("is the one that is generated", async () => {
    const { body } = answerTo("the OpenAPI document");
    expect(body).toEqual(file);
  });

  test("is valid OpenAPI 3.0, and everything in it is described", () => {
    const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });
    ajv.validate(openApi30, file);
    expect(ajv.errors ?? []).toEqual([]);
  });

  test("is held to its form by a schema that can refuse", () => {
    const ajv = new Ajv({ strict: false, validateFormats: false });
    const isValid = ajv.compile(openApi30);
    const path = { get: { ...own.operation("GET /livez"), operationId: "a" } };
    const with_ = (more: object) => isValid({ ...file, ...more });
    expect(with_({ paths: { "/livez": path } })).toBe(true);
    expect(with_({ paths: { livez: path } })).toBe(false);
    expect(with_({ paths: { "/livez": { ...path, fetch: path.get } } })).toBe(false);
    expect(with_({ paths: { "/livez": { get: { ...path.get, description: "" } } } })).toBe(false);
    expect(with_({ openapi: "3.1.0" })).toBe(false);
    for (const wrong of [{ type: "null" }, { type: ["string"] }, { type: "array" }, { nullable: true }, { const: 1 }]) {
      expect(with_({ components: { schemas: { Wrong: wrong } } })).toBe(false);
    }
  });

  test("gives every operation an id of its own, and tags that it explains", () => {
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = (file as unknown as { readonly tags: readonly { readonly name: string }[] }).tags;
    const used = new Set(operations.flatMap(([, { tags: named = [] }]) => named));
    expect(new Set(tags.map(({ name }) => name))).toEqual(used);
  });

  test("has a parameter for each name in a path, and in a path no other", () => {
    for (const [route, { parameters = [] }] of operations) {
      const named = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const given = parameters.filter((one) => one.in === "path").map(({ name }) => name);
      expect({ route, given }).toEqual({ route, given: named });
    }
  });

  test("leads to something with every reference, and uses every schema", () => {
    const references = JSON.stringify(file).match(/"#\/[^"]*"/g) ?? [];
    const found = new Set(references.map((one) => one.slice(1, -1)));
    for (const $ref of found) expect(own.resolve({ $ref })).toBeTypeOf("object");
    expect([...found].toSorted()).toEqual(
      Object.keys(file.components.schemas)
        .map((name) => `#/components/schemas/${name}`)
        .toSorted(),
    );
  });

  test("describes every field, and requires none that it does not have", () => {
    const undescribed = Object.entries(file.components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, { description = "" }]) =>
        description === "" ? [`${name}.${field}`] : [],
      ),
    );
    expect(undescribed).toEqual([]);
    for (const { properties = {}, required = [] } of Object.values(file.components.schemas)) {
      expect(Object.keys(properties)).toEqual(expect.arrayContaining([...required]));
    }
  });

  test("declares that no credentials are needed", () => {
    expect((file as unknown as JsonObject)["security"]).toEqual([]);
  });
});

describe("what is served", () => {
  test("is what the document has: each rpc under the path of its rule, and nothing else", () => {
    expect(rpcs.map(routeOf).toSorted()).toEqual([...own.operations.keys()].toSorted());
  });

  test("has a call for every operation, at its path", () => {
    for (const [name, { method, path }] of Object.entries(calls)) {
      expect({ name, isAt: isAt(routeOf(method), path) }).toEqual({ name, isAt: true });
    }
    const called = new Set(Object.values(calls).map(({ method }) => routeOf(method)));
    expect([...own.operations.keys()].filter((route) => !called.has(route))).toEqual([]);
  });

  test.each(operations)("%s is found", async (route) => {
    for (const { body, situation } of exchangesAt(route)) {
      expect({ situation, body: JSON.stringify(body) }).not.toMatchObject({
        body: expect.stringContaining("nothing is served at") as string,
      });
    }
  });
});

describe("the requests of the table", () => {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const isValid = (schema: object, value: unknown) => ajv.validate({ ...schema, components: file.components }, value);

  test.each(Object.entries(answered))("%s is one that the document allows", (_name, { method, path, body }) => {
    const { requestBody, parameters = [] } = own.operation(routeOf(method));
    expect(requestBody !== undefined).toBe(body !== undefined);
    const schema = requestBody?.content["application/json"]?.schema;
    expect(schema === undefined || isValid(schema, body)).toBe(true);
    const query = [...new URL(path, "http://x").searchParams.keys()];
    const named = parameters.filter((one) => one.in === "query").map(({ name }) => name);
    expect(named).toEqual(expect.arrayContaining(query));
  });
});

/** What comes to an operation that takes no body, and has one all the same, is a test of its own. */
const isOwn = (route: string, { status }: Exchange): boolean =>
  own.operation(route).requestBody === undefined && (status === 413 || status === 415);

/** The two have nothing in them that could fail. */
const isHealth = (route: string): boolean => !route.includes(" /api/");

describe("answers", () => {
  test.each(Object.entries(calls))("%s: every one is as the document says", (_name, call) => {
    const route = routeOf(call.method);
    const all = of(call).filter((one) => !isOwn(route, one) && !(isHealth(route) && one.status >= 500));
    const wrong = all.flatMap(({ situation, status, body }) =>
      own.wrong(route, status, body).map((what) => `${situation}: ${status}: ${what}`),
    );
    expect(all.length).toBeGreaterThan(2);
    expect(wrong).toEqual([]);
  });

  test("to a body that is too large or not JSON are listed also where an operation takes none", () => {
    const unlisted = operations.flatMap(([route, { responses }]) =>
      exchangesAt(route)
        .filter((one) => isOwn(route, one) && !(one.status in responses))
        .map(({ status }) => `${route}: ${status}`),
    );
    expect([...new Set(unlisted)]).toEqual([]);
  });

  test("of readiness and liveness are listed, whether or not contracts are there and while the service stops", () => {
    const unlisted = operations
      .filter(([route]) => isHealth(route))
      .flatMap(([route, { responses }]) =>
        exchangesAt(route)
          .filter(({ status }) => status !== 500 && !(status in responses))
          .map(({ situation, status }) => `${route} ${situation}: ${status}`),
      );
    expect(unlisted).toEqual([]);
  });

  test.each(Object.entries(calls))("%s: none has a property that the document does not name", (_name, call) => {
    const route = routeOf(call.method);
    for (const { situation, status, body } of of(call)) {
      // A status that is not listed is what the test before tells of.
      const beyond = status in own.operation(route).responses ? own.unnamed(route, status, body) : [];
      expect({ situation, status, beyond }).toEqual({ situation, status, beyond: [] });
    }
  });

  test.each(Object.entries(calls))("%s: headers are as the document says", (_name, call) => {
    const { responses } = own.operation(routeOf(call.method));
    for (const { status, headers } of of(call)) {
      const { headers: listed } = responses[status] ?? {};
      expect(headers.get("content-type")).toMatch(/^application\/json(; charset=utf-8)?$/);
      const isListed = status === 503 || (listed !== undefined && "Retry-After" in listed);
      expect({ status, retry: headers.has("retry-after") }).toEqual({ status, retry: isListed });
    }
  });

  test.each(operations)("%s has every status that the document lists", (route, { responses }) => {
    const found = new Set(exchangesAt(route).map(({ status }) => String(status)));
    const missed = Object.keys(responses).filter((status) => !found.has(status));
    // There are no pending allocation instructions in this registry, so nothing is ever told of one.
    expect(missed).toEqual(route.includes("{allocationInstructionId}") ? ["200"] : []);
  });

  test("together have every class of error", () => {
    const found = new Set([...exchanges.values()].flat().map(({ status }) => status));
    expect([...found].toSorted((a, b) => a - b)).toEqual([200, 400, 404, 409, 413, 415, 500, 503]);
  });

  test("of the utility operations tell error and description, all others the error alone", () => {
    for (const [call, found] of exchanges) {
      const names = call.path.startsWith("/api/utilities/") ? ["error", "error_description"] : ["error"];
      for (const { status, body } of found) {
        expect({ status, names: status === 200 ? names : Object.keys(body ?? {}) }).toEqual({ status, names });
      }
    }
  });

  test("to a proof tell the status of a transfer that is on offer", () => {
    expect(answerTo("a proof from a file", "on a participant").body).toEqual({ status: "Pending" });
  });

  test("may tell all that can be told of an instrument", () => {
    const { body } = answerTo("v1 instrument", "on a participant");
    const named = Object.keys(own.resolve({ $ref: "#/components/schemas/Instrument/properties" }) ?? {});
    expect(Object.keys(body).toSorted()).toEqual(named.toSorted());
  });
});

/** What is wrong with an answer when it has been changed. */
const wrong = (name: string, change: (body: JsonObject) => JsonValue, status = 200): string[] => {
  const { route, body } = answerTo(name);
  expect(own.wrong(route, 200, body)).toEqual([]);
  return own.wrong(route, status, change(body));
};

const unnamed = (name: string, body: JsonValue) => own.unnamed(answerTo(name).route, 200, body);

describe("an answer that is wrong is refused", () => {
  test.each<[string, string, (body: JsonObject) => JsonValue, number?]>([
    ["a field is missing", "v1 transfer factory, offer", (body) => ({ ...body, transferKind: undefined as never })],
    ["a value is none of an enum", "v1 transfer factory, offer", (body) => ({ ...body, transferKind: "Offer" })],
    ["a field has another type", "operator", () => ({ partyId: 5 })],
    ["a field is null", "v1 instrument", (body) => ({ ...body, description: null })],
    ["a number is over its limit", "v1 instrument", (body) => ({ ...body, decimals: 11 })],
    ["a time is none", "v1 instrument", (body) => ({ ...body, totalSupplyAsOf: "yesterday" })],
    ["an element of a list is wrong", "all packages", () => ({ packages: [{ name: "a" }] })],
    ["a value of a map is wrong", "v1 registry info", (body) => ({ ...body, supportedApis: { a: "1" } })],
    ["it is no object", "liveness", () => []],
    ["its status is not listed", "liveness", (body) => body, 418],
    ["it is an error of another family", "operator", () => ({ error: "what is wrong" }), 404],
  ])("where %s", (_what, name, change, status) => {
    expect(wrong(name, change, status)).not.toEqual([]);
  });

  test("where it has a property too many, wherever it stands", () => {
    expect(unnamed("operator", { partyId: "a", more: 1 })).toEqual([".more"]);
    expect(
      unnamed("all packages", {
        packages: [
          { name: "a", id: "b" },
          { name: "a", id: "b", size: 1 },
        ],
      }),
    ).toEqual([".packages[].size"]);
    const disclosed = [{ contractId: "a", debugPayload: { free: 1 }, createdAt: "b" }];
    const context = { choiceContextData: { values: {}, free: 1 }, disclosedContracts: disclosed };
    expect(unnamed("v1 transfer factory, offer", { factoryId: "a", choiceContext: context })).toEqual([
      ".choiceContext.disclosedContracts[].createdAt",
    ]);
    expect(unnamed("v1 registry info", { adminId: "a", supportedApis: { any: 1 } })).toEqual([]);
  });
});
