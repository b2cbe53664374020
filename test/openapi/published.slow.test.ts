/** The published OpenAPI documents: the service conforms to them. */
import { existsSync, readFileSync } from "node:fs";
import type { JsonObject } from "@bufbuild/protobuf";
import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { successfulCalls, calls } from "../fixtures/calls/index.js";
import { type Document, OpenApi, type Operation, routeOf, type Schema } from "../fixtures/openapi.js";
import type { Call } from "../fixtures/protocols.js";
import { type ScenarioResponse, Scenarios } from "../fixtures/scenarios.js";
import { deviations } from "./deviations.js";

const folder = new URL("../../../shared/reference/", import.meta.url);
const hasDocuments = existsSync(folder);

const registrar = "/api/token-standard/v0/registrars/{registrarParty}";
const published = !hasDocuments
  ? []
  : [
      read("token-metadata-v1.yaml", registrar, "ErrorResponse"),
      read("transfer-instruction-v1.yaml", registrar, "ErrorResponse"),
      read("allocation-v1.yaml", registrar, "ErrorResponse"),
      read("allocation-instruction-v1.yaml", registrar, "ErrorResponse"),
      read("utilities.yaml", "", "Error"),
    ];

/** A published document. `errors` names the schema of its errors. */
interface Published {
  readonly file: string;
  readonly api: OpenApi;
  readonly errors: string;
}

function read(file: string, base: string, errors: string): Published {
  const document = parse(readFileSync(new URL(file, folder), "utf8")) as Document;
  return { file, api: new OpenApi(document, base), errors };
}

const own = new OpenApi(
  JSON.parse(readFileSync(new URL("../../gen/openapi.json", import.meta.url), "utf8")) as Document,
);
const routes = published.flatMap(({ api, errors, file }) =>
  [...api.operations].map(([route, operation]) => ({ route, operation, api, errors, file })),
);

/** Finds the published operation of a call. */
const findPublication = ({ method }: Call) => routes.find(({ route }) => route === routeOf(method));
const publishedCalls = Object.entries(calls).flatMap(([name, call]) => {
  const publication = findPublication(call);
  return publication === undefined ? [] : [{ name, call, ...publication }];
});

/** The published response is bytes. Ours is the document as JSON. */
const asBytes = "GET /api/utilities/v0/openapi";

/**
 * Fields of an instrument that the published document, of version 1.0.0, lacks: the description is an addition of this
 * service, the others come from version 1.2.0.
 */
const additions = ["description", "paused", "pauseInfo", "showAccountInputFields", "accountInputFieldsToShow"];

/** Statuses that any operation may return. Only some documents list them. */
const commonStatuses = new Set([409, 413, 415, 500, 503]);

/** Other statuses of the service that a document does not list. Their body is an error of that document. */
const unlistedStatuses: Readonly<Record<string, readonly string[]>> = {
  "token-metadata-v1.yaml": [
    "400 GET /registry/metadata/v1/info",
    "400 GET /registry/metadata/v1/instruments",
    "400 GET /registry/metadata/v1/instruments/{instrumentId}",
  ],
  "transfer-instruction-v1.yaml": [],
  "allocation-v1.yaml": [],
  "allocation-instruction-v1.yaml": [],
  "utilities.yaml": [
    "400 POST /api/utilities/v0/contract/instrument-configuration",
    "404 GET /api/utilities/v0/operator",
    // From a file source, which has no updates.
    "404 POST /api/utilities/v0/registry/transfer/v0/proof",
  ],
};

test.skipIf(!hasDocuments)(`the published documents exist (tests here are skipped without ../shared/reference)`, () => {
  expect(published).toHaveLength(5);
  expect(routes).toHaveLength(47 - 13);
});

describe.skipIf(!hasDocuments)("the paths", () => {
  test("that are published are served", () => {
    expect(routes.map(({ route }) => route).filter((route) => !own.operations.has(route))).toEqual([]);
  });

  test("that are not published are version 2 of the token standard, Utilities API 2.2.0, health and the stream", () => {
    const known = new Set(routes.map(({ route }) => route));
    const R = `${registrar}/registry`;
    expect([...own.operations.keys()].filter((route) => !known.has(route)).toSorted()).toEqual([
      "GET /api/offledger/v1/watch",
      "GET /api/utilities/v0/contract/instrument-configuration/paginated",
      "GET /livez",
      "GET /readyz",
      `POST ${R}/allocation-instruction/v2/allocation-factory`,
      `POST ${R}/allocation-instruction/v2/{allocationInstructionId}/choice-contexts/accept`,
      `POST ${R}/allocation-instruction/v2/{allocationInstructionId}/choice-contexts/withdraw`,
      `POST ${R}/allocation/v2/settlement-factory`,
      `POST ${R}/allocations/v2/{allocationId}/choice-contexts/cancel`,
      `POST ${R}/allocations/v2/{allocationId}/choice-contexts/withdraw`,
      `POST ${R}/transfer-instruction/v2/transfer-factory`,
      `POST ${R}/transfer-instruction/v2/{transferInstructionId}/choice-contexts/accept`,
      `POST ${R}/transfer-instruction/v2/{transferInstructionId}/choice-contexts/reject`,
      `POST ${R}/transfer-instruction/v2/{transferInstructionId}/choice-contexts/withdraw`,
    ]);
  });
});

/** Published schemas that this document does not have, and why. */
const withoutName: Readonly<Record<string, string>> = {
  GetFactoryRequest: "typed here: a schema for each factory and version",
  GetInstrumentConfigurationResponse: "an alias of InstrumentConfiguration",
  CredentialClaim: "required claims are a string",
  TokenInformation: "not referred to",
};

describe.skipIf(!hasDocuments)("the names", () => {
  test.each(routes)("of $route: the operation id", ({ route, operation }) => {
    expect(own.operation(route).operationId).toBe(operation.operationId);
  });

  test("of all published schemas are those of this document", () => {
    const names = new Set(published.flatMap(({ api }) => Object.keys(api.document.components.schemas)));
    const missing = [...names].filter((name) => !(name in own.document.components.schemas));
    expect(missing.toSorted()).toEqual(Object.keys(withoutName).toSorted());
  });
});

const bodyOf = ({ requestBody }: Operation): Schema | undefined => requestBody?.content["application/json"]?.schema;
const responseOf = ({ responses }: Operation): Schema => responses["200"]?.content?.["application/json"]?.schema ?? {};
const parametersOf = ({ parameters = [] }: Operation): string[] =>
  // Headers are ours alone.
  parameters.filter((one) => one.in !== "header").map((one) => `${one.in} ${one.name} ${one.schema.type}`);

describe.skipIf(!hasDocuments)("the document of the service", () => {
  test.each(routes)("has the published request of $route", ({ route, api, operation }) => {
    const [theirs, ours] = [bodyOf(operation), bodyOf(own.operation(route))];
    expect(ours === undefined).toBe(theirs === undefined);
    const found = theirs === undefined || ours === undefined ? [] : deviations([api, theirs], [own, ours], "request");
    expect(found).toEqual([]);
    // Token-standard documents leave the base path, with the registrar, open.
    const inBase = route.includes("{registrarParty}") ? ["path registrarParty string"] : [];
    expect(parametersOf(own.operation(route)).toSorted()).toEqual([...parametersOf(operation), ...inBase].toSorted());
  });

  test.each(routes.filter(({ route }) => route !== asBytes))("has the published response of $route", (one) => {
    const ours = responseOf(own.operation(one.route));
    const found = deviations([one.api, responseOf(one.operation)], [own, ours], "response");
    const instrument = one.route.includes("/instruments/{instrumentId}") ? additions.map((name) => `.${name}`) : [];
    const instruments = one.route.endsWith("/instruments") ? additions.map((name) => `.instruments[].${name}`) : [];
    expect(found).toEqual([...instrument, ...instruments].map((path) => `${path} is not published`));
  });

  test("is compared by a function that finds differences", () => {
    const one = { type: "object", required: ["a"], properties: { a: { type: "string" }, b: { enum: ["x"] } } };
    const other = {
      type: "object",
      required: ["b"],
      properties: { a: { type: "integer" }, b: { enum: ["x", "y"] }, c: {} },
    };
    const found = ["a is integer, not string", "b is one of x,y, not of x"];
    const between = (direction: "request" | "response") => deviations([own, one], [own, other], direction).toSorted();
    expect(deviations([own, one], [own, one], "request")).toEqual([]);
    expect(between("request")).toEqual(
      [".b is required", ".c is not published", ...found.map((what) => `.${what}`)].toSorted(),
    );
    expect(between("response")).toEqual(
      [".a is not required", ".c is not published", ...found.map((what) => `.${what}`)].toSorted(),
    );
    const without = { ...one, properties: { b: { enum: ["x"] } } };
    expect(deviations([own, one], [own, without], "response")).toEqual([".a is missing"]);
  });

  test("gives the OpenAPI document as JSON, which is published as bytes", () => {
    const types = [...routes.map(({ operation }) => operation), own.operation(asBytes)]
      .filter(({ operationId }) => /getOpenApiSpec/i.test(operationId))
      .map(({ responses }) => Object.keys(responses["200"]?.content ?? {}));
    expect(types).toEqual([["application/octet-stream"], ["application/json"]]);
  });
});

describe.skipIf(!hasDocuments)("a request", () => {
  test.each(publishedCalls.filter(({ name }) => name in successfulCalls))(
    "$name conforms to the published schema",
    (one) => {
      const schema = bodyOf(one.operation);
      const { components } = one.api.document;
      const ajv = new Ajv({ strict: false, validateFormats: false });
      expect(one.call.body === undefined).toBe(schema === undefined);
      expect(schema === undefined || ajv.validate({ ...schema, components }, one.call.body)).toBe(true);
    },
  );
});

const isAddition = (line: string) =>
  line.startsWith("on a participant: 200: ") && additions.some((name) => line.endsWith(`.${name} is not documented`));

/** Counts the violations of a response. */
const countErrors = (one: Published | undefined, route: string, status: number, body: JsonObject) =>
  one?.api.validate(route, status, body, one.errors).length;

describe.skipIf(!hasDocuments)("a response", () => {
  let scenarios: Scenarios;
  const received = new Map<Call, readonly ScenarioResponse[]>();
  beforeAll(async () => {
    scenarios = await Scenarios.start();
    for (const { call } of publishedCalls) received.set(call, await scenarios.run(call));
  });
  afterAll(() => scenarios.close());
  const responsesTo = (call: Call): readonly ScenarioResponse[] => received.get(call) ?? [];

  test.each(publishedCalls)("to $name conforms in every scenario", ({ call, route, api, errors }) => {
    const all = responsesTo(call).filter(({ status }) => route !== asBytes || status !== 200);
    const wrong = all.flatMap(({ scenario, status, body }) => {
      const extra = api.findExtra(route, status, body, errors).map((what) => `${what} is not documented`);
      const found = api.validate(route, status, body, errors).concat(extra);
      return found.map((what) => `${scenario}: ${status}: ${what}`);
    });
    expect(wrong.filter((line) => !isAddition(line))).toEqual([]);
    expect(responsesTo(call).length).toBeGreaterThan(5);
  });

  test.each(published)("of $file has only published and common statuses", (one) => {
    const unlisted = publishedCalls
      .filter(({ file }) => file === one.file)
      .flatMap(({ call, route, operation }) =>
        responsesTo(call)
          .filter(({ status }) => !(status in operation.responses) && !commonStatuses.has(status))
          .map(({ status }) => `${status} ${route.replace(registrar, "")}`),
      );
    expect([...new Set(unlisted)].toSorted()).toEqual(unlistedStatuses[one.file]);
  });

  test("that is invalid is detected", () => {
    const [utilities] = published.slice(-1);
    const [metadata] = published;
    const operator = "GET /api/utilities/v0/operator";
    expect(countErrors(utilities, operator, 200, { partyId: "a" })).toBe(0);
    expect(countErrors(utilities, operator, 200, {})).toBe(1);
    expect(countErrors(utilities, operator, 201, { partyId: "a" })).toBe(1);
    // Both fields of an error have a default, and are required nevertheless.
    expect(countErrors(utilities, operator, 500, {})).toBe(2);
    expect(countErrors(utilities, operator, 404, { error: "not_found" })).toBe(1);
    expect(countErrors(utilities, operator, 404, { error: "not_found", error_description: "why" })).toBe(0);
    const instrument = { id: "a", name: "a", symbol: "a", supportedApis: {} };
    const route = `GET ${registrar}/registry/metadata/v1/instruments/{instrumentId}`;
    expect(countErrors(metadata, route, 200, { ...instrument, decimals: 10 })).toBe(0);
    expect(countErrors(metadata, route, 200, instrument)).toBe(1);
    expect(countErrors(metadata, route, 200, { ...instrument, decimals: "10" })).toBe(1);
    expect(countErrors(metadata, route, 404, {})).toBe(1);
  });
});
