/** The OpenAPI document of the service is valid and complete, and every response conforms to it. */
import { readFile } from "node:fs/promises";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { successfulCalls, calls } from "../fixtures/calls/index.js";
import { type Document, matchesRoute, OpenApi, routeOf } from "../fixtures/openapi.js";
import type { Call } from "../fixtures/protocols.js";
import { rpcs } from "../fixtures/services.js";
import { type ScenarioResponse, Scenarios, callDuringShutdown } from "../fixtures/scenarios.js";
import { openApi30 } from "./openapi-3.0.js";

const file = JSON.parse(await readFile(new URL("../../gen/openapi.json", import.meta.url), "utf8")) as Document;
const own = new OpenApi(file);
/** Streams have no response that could be compared: test/transport/watch has theirs. */
const isStream = (route: string): boolean => "text/event-stream" in (own.response(route, 200)?.content ?? {});
const operations = [...own.operations].filter(([route]) => !isStream(route));
const paths = operations.map(([route]) => route);

let scenarios: Scenarios;
const received = new Map<Call, readonly ScenarioResponse[]>();
beforeAll(async () => {
  scenarios = await Scenarios.start();
  const all = Object.values(calls);
  const duringShutdown = await callDuringShutdown(all);
  for (const [index, call] of all.entries()) {
    received.set(call, [...(await scenarios.run(call)), ...duringShutdown.slice(index, index + 1)]);
  }
});
afterAll(() => scenarios.close());

const responsesTo = (call: Call | undefined): readonly ScenarioResponse[] => (call && received.get(call)) ?? [];
const findResponses = (route: string) =>
  Object.values(calls)
    .filter(({ method }) => routeOf(method) === route)
    .flatMap(responsesTo);

/** Returns the response to one call in one scenario. */
function getResponse(name: string, scenario = "on the demo registry"): { route: string; body: JsonObject } {
  const call = calls[name];
  const found = responsesTo(call).find((one) => one.scenario === scenario);
  if (call === undefined || found === undefined) throw new Error(`there is no response to ${name} ${scenario}`);
  return { route: routeOf(call.method), body: found.body as JsonObject };
}

describe("the document", () => {
  test("is the generated one", async () => {
    const { body } = getResponse("the OpenAPI document");
    expect(body).toEqual(file);
  });

  test("is valid OpenAPI 3.0 with a description for everything", () => {
    const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });
    ajv.validate(openApi30, file);
    expect(ajv.errors ?? []).toEqual([]);
  });

  test("is checked against a schema that rejects invalid documents", () => {
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

  test("has unique operation ids, and describes the tags that it uses", () => {
    const all = [...own.operations.values()];
    const ids = all.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = (file as unknown as { readonly tags: readonly { readonly name: string }[] }).tags;
    const used = new Set(all.flatMap(({ tags: named = [] }) => named));
    expect(new Set(tags.map(({ name }) => name))).toEqual(used);
  });

  test("declares exactly the path parameters that the paths name", () => {
    for (const [route, { parameters = [] }] of operations) {
      const named = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const given = parameters.filter((one) => one.in === "path").map(({ name }) => name);
      expect({ route, given }).toEqual({ route, given: named });
    }
  });

  test("resolves every reference, and uses every component", () => {
    const references = JSON.stringify(file).match(/"#\/[^"]*"/g) ?? [];
    const found = new Set(references.map((one) => one.slice(1, -1)));
    for (const $ref of found) expect(own.resolve({ $ref })).toBeTypeOf("object");
    const declared = Object.entries(file.components).flatMap(([kind, named]) =>
      Object.keys(named).map((name) => `#/components/${kind}/${name}`),
    );
    expect([...found].toSorted()).toEqual(declared.toSorted());
  });

  test("describes every field, and requires only fields that exist", () => {
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

  test("declares that no credentials are required", () => {
    expect((file as unknown as JsonObject)["security"]).toEqual([]);
    expect(file.components).not.toHaveProperty("securitySchemes");
    expect(operations.filter(([, { responses, security }]) => security !== undefined || "401" in responses)).toEqual(
      [],
    );
  });
});

describe("the served operations", () => {
  test("are those of the document: each rpc at the path of its rule, and nothing else", () => {
    expect(rpcs.map(routeOf).toSorted()).toEqual(paths.toSorted());
  });

  test("each have a call at their path", () => {
    for (const [name, { method, path }] of Object.entries(calls)) {
      expect({ name, matchesRoute: matchesRoute(routeOf(method), path) }).toEqual({ name, matchesRoute: true });
    }
    const called = new Set(Object.values(calls).map(({ method }) => routeOf(method)));
    expect(paths.filter((route) => !called.has(route))).toEqual([]);
  });

  test.each(operations)("%s is routed", async (route) => {
    for (const { body, scenario } of findResponses(route)) {
      expect({ scenario, body: JSON.stringify(body) }).not.toMatchObject({
        body: expect.stringContaining("nothing is served at") as string,
      });
    }
  });
});

/** Calls of version 1 with the arguments of version 2, or the other way around. */
const ofOtherVersion: ReadonlySet<string> = new Set([
  "v1 transfer factory, arguments of v2",
  "v2 transfer factory, arguments of v1",
  "v1 allocation factory, arguments of v2",
  "v2 allocation factory, arguments of v1, without debug fields",
  "v2 allocation factory, by a party without a credential",
]);

describe("the requests of the calls", () => {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const isValid = (schema: object, value: unknown) => ajv.validate({ ...schema, components: file.components }, value);

  test.each(Object.entries(successfulCalls))("%s is valid", (name, { method, path, body }) => {
    const { requestBody, parameters = [] } = own.operation(routeOf(method));
    expect(requestBody !== undefined).toBe(body !== undefined);
    const schema = requestBody?.content["application/json"]?.schema;
    // The document shows the arguments in the version of the operation; the description says that it accepts the other.
    expect(schema === undefined || isValid(schema, body)).toBe(!ofOtherVersion.has(name));
    const query = [...new URL(path, "http://x").searchParams.keys()];
    const named = parameters.filter((one) => one.in === "query").map((one) => one.name);
    expect(named).toEqual(expect.arrayContaining(query));
  });
});

/** Whether an operation without a body rejected a body. A test of its own covers these. */
const isBodyRejection = (route: string, { status }: ScenarioResponse): boolean =>
  own.operation(route).requestBody === undefined && (status === 413 || status === 415);

/** Statuses that transport-statuses.slow.test.ts produces, and 304, which test/transport/validators.test.ts does. */
const ofTransport: ReadonlySet<string> = new Set(["304", "405", "408", "414", "429", "431"]);

/** Health operations cannot fail unexpectedly. */
const isHealth = (route: string): boolean => !route.includes(" /api/");

describe("responses", () => {
  test.each(Object.entries(calls))("%s: every one conforms to the document", (_name, call) => {
    const route = routeOf(call.method);
    const all = responsesTo(call).filter(
      (one) => !isBodyRejection(route, one) && !(isHealth(route) && one.status >= 500),
    );
    const wrong = all.flatMap(({ scenario, status, body }) =>
      own.validate(route, status, body).map((what) => `${scenario}: ${status}: ${what}`),
    );
    expect(all.length).toBeGreaterThan(2);
    expect(wrong).toEqual([]);
  });

  test("to a body that is too large or not JSON are listed for operations without a body, too", () => {
    const unlisted = operations.flatMap(([route, { responses }]) =>
      findResponses(route)
        .filter((one) => isBodyRejection(route, one) && !(one.status in responses))
        .map(({ status }) => `${route}: ${status}`),
    );
    expect([...new Set(unlisted)]).toEqual([]);
  });

  test("of readiness and liveness are listed in every scenario", () => {
    const unlisted = operations
      .filter(([route]) => isHealth(route))
      .flatMap(([route, { responses }]) =>
        findResponses(route)
          .filter(({ status }) => status !== 500 && !(status in responses))
          .map(({ scenario, status }) => `${route} ${scenario}: ${status}`),
      );
    expect(unlisted).toEqual([]);
  });

  test.each(Object.entries(calls))("%s: none has an undocumented property", (_name, call) => {
    const route = routeOf(call.method);
    for (const { scenario, status, body } of responsesTo(call)) {
      // The test above reports unlisted statuses.
      const extra = status in own.operation(route).responses ? own.findExtra(route, status, body) : [];
      expect({ scenario, status, extra }).toEqual({ scenario, status, extra: [] });
    }
  });

  test.each(Object.entries(calls))("%s: headers conform to the document", (_name, call) => {
    for (const { status, headers } of responsesTo(call)) {
      const { headers: listed } = own.response(routeOf(call.method), status) ?? {};
      expect(headers.get("content-type")).toMatch(/^application\/json(; charset=utf-8)?$/);
      const isListed = status === 503 || (listed !== undefined && "Retry-After" in listed);
      expect({ status, retry: headers.has("retry-after") }).toEqual({ status, retry: isListed });
    }
  });

  test.each(operations)("%s produces every documented status", (route, { responses }) => {
    const found = new Set(findResponses(route).map(({ status }) => String(status)));
    const missed = Object.keys(responses).filter((status) => !found.has(status) && !ofTransport.has(status));
    // This registry has no pending allocation instructions: these operations never succeed.
    const neverSucceeds = route.includes("{allocationInstructionId}") ? ["200"] : [];
    // These need no contracts: only an overload makes them unavailable.
    const isServed = ["GET /livez", "GET /api/utilities/v0/openapi"].includes(route);
    expect(missed).toEqual(isServed ? ["503"] : neverSucceeds);
  });

  test("cover every class of error", () => {
    const found = new Set([...received.values()].flat().map(({ status }) => status));
    expect([...found].toSorted((a, b) => a - b)).toEqual([200, 400, 404, 409, 413, 415, 500, 503]);
  });

  test("have error and error_description in utility operations, and only error in all others", () => {
    for (const [call, found] of received) {
      const names = call.path.startsWith("/api/utilities/") ? ["error", "error_description"] : ["error"];
      for (const { status, body } of found) {
        expect({ status, names: status === 200 ? names : Object.keys(body ?? {}) }).toEqual({ status, names });
      }
    }
  });

  test("to a proof have the status of an offered transfer", () => {
    expect(getResponse("a proof from a file", "on a participant").body).toEqual({ status: "Pending" });
  });

  test("have every optional property of an instrument on a participant", () => {
    const { body } = getResponse("v1 instrument", "on a participant");
    const named = Object.keys(own.resolve({ $ref: "#/components/schemas/Instrument/properties" }) ?? {});
    expect(Object.keys(body).toSorted()).toEqual(named.toSorted());
  });
});

/** Validates a modified response. Returns the violations. */
const validateChanged = (name: string, change: (body: JsonObject) => JsonValue, status = 200): string[] => {
  const { route, body } = getResponse(name);
  expect(own.validate(route, 200, body)).toEqual([]);
  return own.validate(route, status, change(body));
};

const findExtra = (name: string, body: JsonValue) => own.findExtra(getResponse(name).route, 200, body);

describe("an invalid response is detected", () => {
  test.each<[string, string, (body: JsonObject) => JsonValue, number?]>([
    ["a field is missing", "v1 transfer factory, offer", (body) => ({ ...body, transferKind: undefined as never })],
    ["a value is not in an enum", "v1 transfer factory, offer", (body) => ({ ...body, transferKind: "Offer" })],
    ["a field has another type", "operator", () => ({ partyId: 5 })],
    ["a field is null", "v1 instrument", (body) => ({ ...body, description: null })],
    ["a number is over its limit", "v1 instrument", (body) => ({ ...body, decimals: 11 })],
    ["a time is malformed", "v1 instrument", (body) => ({ ...body, totalSupplyAsOf: "yesterday" })],
    ["an element of a list is wrong", "all packages", () => ({ packages: [{ name: "a" }] })],
    ["a value of a map is wrong", "v1 registry info", (body) => ({ ...body, supportedApis: { a: "1" } })],
    ["it is not an object", "liveness", () => []],
    ["its status is not listed", "liveness", (body) => body, 418],
    ["it is an error in the form of another API", "operator", () => ({ error: "what is wrong" }), 404],
  ])("when %s", (_what, name, change, status) => {
    expect(validateChanged(name, change, status)).not.toEqual([]);
  });

  test("when it has an extra property at any depth", () => {
    expect(findExtra("operator", { partyId: "a", more: 1 })).toEqual([".more"]);
    expect(
      findExtra("all packages", {
        packages: [
          { name: "a", id: "b" },
          { name: "a", id: "b", size: 1 },
        ],
      }),
    ).toEqual([".packages[].size"]);
    const disclosed = [{ contractId: "a", debugPayload: { free: 1 }, createdAt: "b" }];
    const context = { choiceContextData: { values: {}, free: 1 }, disclosedContracts: disclosed };
    expect(findExtra("v1 transfer factory, offer", { factoryId: "a", choiceContext: context })).toEqual([
      ".choiceContext.disclosedContracts[].createdAt",
    ]);
    expect(findExtra("v1 registry info", { adminId: "a", supportedApis: { any: 1 } })).toEqual([]);
  });
});
