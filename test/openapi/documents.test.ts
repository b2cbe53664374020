/** The OpenAPI document is valid and complete, and has what the published documents have. */
import type { JsonObject } from "@bufbuild/protobuf";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { calls, successfulCalls } from "../fixtures/calls/index.js";
import { matchesRoute, type OpenApi, type Operation, routeOf, type Schema } from "../fixtures/openapi.js";
import { rpcs } from "../fixtures/services.js";
import { openApi30 } from "./openapi-3.0.js";
import { additions, asBytes, operations, own, ownDocument, published, routes } from "./published.js";

const paths = operations.map(([route]) => route);
describe("the document", () => {
  test("is valid OpenAPI 3.0 with a description for everything", () => {
    const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });
    ajv.validate(openApi30, ownDocument);
    expect(ajv.errors ?? []).toEqual([]);
  });

  test("has unique operation ids, and describes the tags that it uses", () => {
    const all = [...own.operations.values()];
    const ids = all.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = (ownDocument as unknown as { readonly tags: readonly { readonly name: string }[] }).tags;
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
    const references = JSON.stringify(ownDocument).match(/"#\/[^"]*"/g) ?? [];
    const found = new Set(references.map((one) => one.slice(1, -1)));
    for (const $ref of found) expect(own.resolve({ $ref })).toBeTypeOf("object");
    const declared = Object.entries(ownDocument.components).flatMap(([kind, named]) =>
      Object.keys(named).map((name) => `#/components/${kind}/${name}`),
    );
    expect([...found].toSorted()).toEqual(declared.toSorted());
  });

  test("describes every field, and requires only fields that exist", () => {
    const undescribed = Object.entries(ownDocument.components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, { description = "" }]) =>
        description === "" ? [`${name}.${field}`] : [],
      ),
    );
    expect(undescribed).toEqual([]);
    for (const { properties = {}, required = [] } of Object.values(ownDocument.components.schemas)) {
      expect(Object.keys(properties)).toEqual(expect.arrayContaining([...required]));
    }
  });

  test("declares that no credentials are required", () => {
    expect((ownDocument as unknown as JsonObject)["security"]).toEqual([]);
    expect(ownDocument.components).not.toHaveProperty("securitySchemes");
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
  const isValid = (schema: object, value: unknown) =>
    ajv.validate({ ...schema, components: ownDocument.components }, value);

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

const R = "/api/token-standard/v0/registrars/{registrarParty}/registry";

/** They become names of generated clients; the published ones are compared below. V2 only where version 1 has the same name. */
test.each([
  [`${R}/transfer-instruction/v2/transfer-factory`, "getTransferFactoryV2", "GetTransferFactoryRequestV2"],
  [`${R}/allocation-instruction/v2/allocation-factory`, "getAllocationFactoryV2", "GetAllocationFactoryRequestV2"],
  [`${R}/allocation/v2/settlement-factory`, "getSettlementFactory", "GetSettlementFactoryRequest"],
  [
    `${R}/allocations/v2/{allocationId}/choice-contexts/cancel`,
    "getAllocationCancelContextV2",
    "GetChoiceContextRequest",
  ],
])("POST %s is %s and takes %s", (path, id, request) => {
  const { operationId, requestBody } = own.operation(`POST ${path}`);
  const $ref = `#/components/schemas/${request}`;
  expect([operationId, requestBody?.content["application/json"]?.schema]).toEqual([id, { $ref }]);
});

test("all operations of the published documents are compared", () => {
  expect(published).toHaveLength(5);
  expect(routes).toHaveLength(47 - 13);
});

test("the paths that are published are served", () => {
  expect(routes.map(({ route }) => route).filter((route) => !own.operations.has(route))).toEqual([]);
});

/** Published schemas that this document does not have, and why. */
const withoutName: Readonly<Record<string, string>> = {
  GetFactoryRequest: "typed here: a schema for each factory and version",
  GetInstrumentConfigurationResponse: "an alias of InstrumentConfiguration",
  CredentialClaim: "required claims are a string",
  TokenInformation: "not referred to",
};

describe("the names", () => {
  test.each(routes)("of $route: the operation id", ({ route, operation }) => {
    expect(own.operation(route).operationId).toBe(operation.operationId);
  });

  test("of all published schemas are those of this document", () => {
    const names = new Set(published.flatMap(({ document }) => Object.keys(document.components.schemas)));
    const missing = [...names].filter((name) => !(name in own.document.components.schemas));
    expect(missing.toSorted()).toEqual(Object.keys(withoutName).toSorted());
  });
});

const bodyOf = ({ requestBody }: Operation): Schema | undefined => requestBody?.content["application/json"]?.schema;
const contentOf = (response: ReturnType<OpenApi["response"]>): Schema =>
  response?.content?.["application/json"]?.schema ?? {};
const responseOf = ({ responses }: Operation): Schema => contentOf(responses["200"]);
/** Decided before the path is known: their body is the token standard's everywhere. */
const beforeThePath: ReadonlySet<string> = new Set(["408", "431"]);
/** Only some documents list them. */
const commonStatuses: ReadonlySet<string> = new Set([
  ...beforeThePath,
  "304",
  "405",
  "409",
  "413",
  "414",
  "415",
  "500",
  "503",
]);
const parametersOf = ({ parameters = [] }: Operation): string[] =>
  // Headers are ours alone.
  parameters.filter((one) => one.in !== "header").map((one) => `${one.in} ${one.name} ${one.schema.type}`);

describe("the document of the service", () => {
  test.each(routes)("has the published request of $route", ({ route, api, operation }) => {
    const [theirs, ours] = [bodyOf(operation), bodyOf(own.operation(route))];
    expect(ours === undefined).toBe(theirs === undefined);
    const found = theirs === undefined || ours === undefined ? [] : deviations(api, theirs, ours, "request");
    expect(found).toEqual([]);
    // Token-standard documents leave the base path, with the registrar, open.
    const inBase = route.includes("{registrarParty}") ? ["path registrarParty string"] : [];
    expect(parametersOf(own.operation(route)).toSorted()).toEqual([...parametersOf(operation), ...inBase].toSorted());
  });

  test.each(routes.filter(({ route }) => route !== asBytes))("has the published response of $route", (one) => {
    const ours = responseOf(own.operation(one.route));
    const found = deviations(one.api, responseOf(one.operation), ours, "response");
    const instrument = one.route.includes("/instruments/{instrumentId}") ? additions.map((name) => `.${name}`) : [];
    const instruments = one.route.endsWith("/instruments") ? additions.map((name) => `.instruments[].${name}`) : [];
    expect(found).toEqual([...instrument, ...instruments].map((path) => `${path} is not published`));
  });

  test.each(routes)("has the published errors of $route", ({ route, api, operation }) => {
    const listed = Object.keys(operation.responses).find((status) => status >= "400");
    const theirs = contentOf(api.response(route, Number(listed)));
    const found = Object.keys(own.operation(route).responses)
      .filter((status) => status >= "400" && !beforeThePath.has(status))
      .flatMap((status) => deviations(api, theirs, contentOf(own.response(route, Number(status))), "response", status));
    expect([theirs.$ref, found]).toEqual([expect.stringMatching(/Error(?:Response)?$/), []]);
  });

  test("has statuses that are published, those that any operation may have, and a few", () => {
    const unlisted = routes.flatMap(({ route, operation }) =>
      Object.keys(own.operation(route).responses)
        .filter((status) => !(status in operation.responses) && !commonStatuses.has(status))
        .map((status) => `${status} ${route}`),
    );
    const metadata = `GET ${R}/metadata/v1`;
    expect(unlisted.toSorted()).toEqual([
      `400 ${metadata}/info`,
      `400 ${metadata}/instruments`,
      `400 ${metadata}/instruments/{instrumentId}`,
      "400 POST /api/utilities/v0/contract/instrument-configuration",
      "404 GET /api/utilities/v0/operator",
      // From a file source, which has no updates.
      "404 POST /api/utilities/v0/registry/transfer/v0/proof",
    ]);
  });

  test("gives the OpenAPI document as JSON, which is published as bytes", () => {
    const types = [...routes.map(({ operation }) => operation), own.operation(asBytes)]
      .filter(({ operationId }) => /getOpenApiSpec/i.test(operationId))
      .map(({ responses }) => Object.keys(responses["200"]?.content ?? {}));
    expect(types).toEqual([["application/octet-stream"], ["application/json"]]);
  });
});

/** A schema with its references and allOf merged. */
interface Shape {
  readonly type: string | undefined;
  readonly enum: readonly string[] | undefined;
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  readonly items: Schema | undefined;
}

function mergeSchema(api: OpenApi, schema: Schema): Shape {
  const { $ref, allOf = [], properties = {}, required = [], items } = schema;
  const parts = [...($ref === undefined ? [] : [api.resolve({ $ref }) as Schema]), ...allOf].map((part) =>
    mergeSchema(api, part),
  );
  return {
    type: schema.type ?? parts.find(({ type }) => type !== undefined)?.type,
    enum: schema.enum ?? parts.find((part) => part.enum !== undefined)?.enum,
    properties: Object.assign({}, ...parts.map((part) => part.properties), properties) as Shape["properties"],
    required: [...required, ...parts.flatMap((part) => part.required)],
    items: items ?? parts.find((part) => part.items !== undefined)?.items,
  };
}

/** Lists the differences between a published schema and ours, one per line. */
function deviations(
  api: OpenApi,
  theirs: Schema,
  ours: Schema,
  direction: "request" | "response",
  path = "",
): string[] {
  const [their, our] = [mergeSchema(api, theirs), mergeSchema(own, ours)];
  const names = Object.keys(their.properties);
  const types = their.type === our.type ? [] : [`${path} is ${our.type}, not ${their.type}`];
  // Published as an object of any content: ours says more.
  if (their.type === "object" && names.length === 0 && their.required.length === 0) return types;
  // Our requests require no more than theirs, and our responses no less.
  const [strict, lax] = direction === "request" ? [our, their] : [their, our];
  const required = strict.required.filter((name) => !lax.required.includes(name));
  const [theirValues, ourValues] = [their, our].map((shape) => shape.enum?.toSorted().join());
  return [
    ...types,
    ...(theirValues === ourValues ? [] : [`${path} is one of ${ourValues}, not of ${theirValues}`]),
    ...required.map((name) => `${path}.${name} is ${direction === "request" ? "required" : "not required"}`),
    ...Object.keys(our.properties)
      .filter((name) => !names.includes(name))
      .map((name) => `${path}.${name} is not published`),
    ...Object.entries(their.properties).flatMap(([name, schema]) => {
      const known = our.properties[name];
      return known === undefined
        ? [`${path}.${name} is missing`]
        : deviations(api, schema, known, direction, `${path}.${name}`);
    }),
    ...(their.items === undefined || our.items === undefined || their.type !== "array"
      ? []
      : deviations(api, their.items, our.items, direction, `${path}[]`)),
  ];
}
