/** The API as others have published it: what the service answers is what those documents say. */
import { existsSync, readFileSync } from "node:fs";
import type { JsonObject } from "@bufbuild/protobuf";
import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { answered, calls } from "../fixtures/calls/index.js";
import { type Document, OpenApi, type Operation, routeOf, type Schema } from "../fixtures/openapi.js";
import type { Call } from "../fixtures/protocols.js";
import { type Exchange, Scenarios } from "../fixtures/scenarios.js";
import { deviations } from "./deviations.js";

const folder = new URL("../../../shared/reference/", import.meta.url);
const isThere = existsSync(folder);

const registrar = "/api/token-standard/v0/registrars/{registrarParty}";
const published = !isThere
  ? []
  : [
      read("token-metadata-v1.yaml", registrar, "ErrorResponse"),
      read("transfer-instruction-v1.yaml", registrar, "ErrorResponse"),
      read("allocation-v1.yaml", registrar, "ErrorResponse"),
      read("allocation-instruction-v1.yaml", registrar, "ErrorResponse"),
      read("utilities.yaml", "", "Error"),
    ];

/** A document, and the name of the schema that its errors have. */
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

/** Where a call is published. */
const publicationOf = ({ method }: Call) => routes.find(({ route }) => route === routeOf(method));
const publishedCalls = Object.entries(calls).flatMap(([name, call]) => {
  const publication = publicationOf(call);
  return publication === undefined ? [] : [{ name, call, ...publication }];
});

/** Its answer is published as bytes, and is the document in JSON here. */
const asBytes = "GET /api/utilities/v0/openapi";

/** What any operation may answer, and some documents list and some do not. */
const ofAny = new Set([409, 413, 415, 500, 503]);

/** What the service answers beyond those and beyond the statuses that a document lists, in the form of its errors. */
const moreStatuses: Readonly<Record<string, readonly string[]>> = {
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
    // Of a file, which has no updates.
    "404 POST /api/utilities/v0/registry/transfer/v0/proof",
  ],
};

test.skipIf(!isThere)(`the published documents are there: without ../shared/reference nothing here is tested`, () => {
  expect(published).toHaveLength(5);
  expect(routes).toHaveLength(46 - 12);
});

describe.skipIf(!isThere)("the paths", () => {
  test("that are published are all served", () => {
    expect(routes.map(({ route }) => route).filter((route) => !own.operations.has(route))).toEqual([]);
  });

  test("that are served beyond those are version 2 of the token standard, and health", () => {
    const known = new Set(routes.map(({ route }) => route));
    const R = `${registrar}/registry`;
    expect([...own.operations.keys()].filter((route) => !known.has(route)).toSorted()).toEqual([
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

const bodyOf = ({ requestBody }: Operation): Schema | undefined => requestBody?.content["application/json"]?.schema;
const answerOf = ({ responses }: Operation): Schema => responses["200"]?.content?.["application/json"]?.schema ?? {};
const parametersOf = ({ parameters = [] }: Operation): string[] =>
  parameters.map((one) => `${one.in} ${one.name} ${one.schema.type}`);

describe.skipIf(!isThere)("the document of the service", () => {
  test.each(routes)("takes for $route what is published", ({ route, api, operation }) => {
    const [theirs, ours] = [bodyOf(operation), bodyOf(own.operation(route))];
    expect(ours === undefined).toBe(theirs === undefined);
    const found = theirs === undefined || ours === undefined ? [] : deviations([api, theirs], [own, ours], "request");
    expect(found).toEqual([]);
    // The registrar stands in the base that token-standard documents leave to others.
    const inBase = route.includes("{registrarParty}") ? ["path registrarParty string"] : [];
    expect(parametersOf(own.operation(route)).toSorted()).toEqual([...parametersOf(operation), ...inBase].toSorted());
  });

  test.each(routes.filter(({ route }) => route !== asBytes))("answers for $route what is published", (one) => {
    const ours = answerOf(own.operation(one.route));
    const found = deviations([one.api, answerOf(one.operation)], [own, ours], "answer");
    const instrument = one.route.includes("/instruments/{instrumentId}") ? [".description is ours"] : [];
    const instruments = one.route.endsWith("/instruments") ? [".instruments[].description is ours"] : [];
    expect(found).toEqual([...instrument, ...instruments]);
  });

  test("is held against them by what can tell a difference", () => {
    const one = { type: "object", required: ["a"], properties: { a: { type: "string" }, b: { enum: ["x"] } } };
    const other = {
      type: "object",
      required: ["b"],
      properties: { a: { type: "integer" }, b: { enum: ["x", "y"] }, c: {} },
    };
    const found = ["a is integer, not string", "b is one of x,y, not of x"];
    const between = (asks: "request" | "answer") => deviations([own, one], [own, other], asks).toSorted();
    expect(deviations([own, one], [own, one], "request")).toEqual([]);
    expect(between("request")).toEqual(
      [".b is asked for", ".c is ours", ...found.map((what) => `.${what}`)].toSorted(),
    );
    expect(between("answer")).toEqual(
      [".a is not sure to be there", ".c is ours", ...found.map((what) => `.${what}`)].toSorted(),
    );
    const without = { ...one, properties: { b: { enum: ["x"] } } };
    expect(deviations([own, one], [own, without], "answer")).toEqual([".a is not there"]);
  });

  test("gives the OpenAPI document as JSON, which is published as bytes", () => {
    const types = [...routes.map(({ operation }) => operation), own.operation(asBytes)]
      .filter(({ operationId }) => /getOpenApiSpec/i.test(operationId))
      .map(({ responses }) => Object.keys(responses["200"]?.content ?? {}));
    expect(types).toEqual([["application/octet-stream"], ["application/json"]]);
  });
});

describe.skipIf(!isThere)("a request of the table", () => {
  test.each(publishedCalls.filter(({ name }) => name in answered))("$name is one that is published", (one) => {
    const schema = bodyOf(one.operation);
    const { components } = one.api.document;
    const ajv = new Ajv({ strict: false, validateFormats: false });
    expect(one.call.body === undefined).toBe(schema === undefined);
    expect(schema === undefined || ajv.validate({ ...schema, components }, one.call.body)).toBe(true);
  });
});

/** The operator's description of an instrument is our own, and can be had on the participant of these tests. */
const isOurs = (line: string) =>
  line.startsWith("on a participant: 200: ") && line.endsWith(".description is not named");

/** How many things are wrong with an answer. */
const mistakes = (one: Published | undefined, route: string, status: number, body: JsonObject) =>
  one?.api.wrong(route, status, body, one.errors).length;

describe.skipIf(!isThere)("an answer", () => {
  let situations: Scenarios;
  const exchanges = new Map<Call, readonly Exchange[]>();
  beforeAll(async () => {
    situations = await Scenarios.start();
    for (const { call } of publishedCalls) exchanges.set(call, await situations.exchanges(call));
  });
  afterAll(() => situations.close());
  const of = (call: Call): readonly Exchange[] => exchanges.get(call) ?? [];

  test.each(publishedCalls)("to $name is as is published, whatever the situation", ({ call, route, api, errors }) => {
    const all = of(call).filter(({ status }) => route !== asBytes || status !== 200);
    const wrong = all.flatMap(({ situation, status, body }) => {
      const beyond = api.unnamed(route, status, body, errors).map((what) => `${what} is not named`);
      const found = api.wrong(route, status, body, errors).concat(beyond);
      return found.map((what) => `${situation}: ${status}: ${what}`);
    });
    expect(wrong.filter((line) => !isOurs(line))).toEqual([]);
    expect(of(call).length).toBeGreaterThan(5);
  });

  test.each(published)(
    "by $file has no status but those that are published, and those that any operation may have",
    (one) => {
      const unlisted = publishedCalls
        .filter(({ file }) => file === one.file)
        .flatMap(({ call, route, operation }) =>
          of(call)
            .filter(({ status }) => !(status in operation.responses) && !ofAny.has(status))
            .map(({ status }) => `${status} ${route.replace(registrar, "")}`),
        );
      expect([...new Set(unlisted)].toSorted()).toEqual(moreStatuses[one.file]);
    },
  );

  test("that is wrong is refused", () => {
    const [utilities] = published.slice(-1);
    const [metadata] = published;
    const operator = "GET /api/utilities/v0/operator";
    expect(mistakes(utilities, operator, 200, { partyId: "a" })).toBe(0);
    expect(mistakes(utilities, operator, 200, {})).toBe(1);
    expect(mistakes(utilities, operator, 201, { partyId: "a" })).toBe(1);
    // Both fields of an error have a default there, and are asked for all the same.
    expect(mistakes(utilities, operator, 500, {})).toBe(2);
    expect(mistakes(utilities, operator, 404, { error: "not_found" })).toBe(1);
    expect(mistakes(utilities, operator, 404, { error: "not_found", error_description: "why" })).toBe(0);
    const instrument = { id: "a", name: "a", symbol: "a", supportedApis: {} };
    const route = `GET ${registrar}/registry/metadata/v1/instruments/{instrumentId}`;
    expect(mistakes(metadata, route, 200, { ...instrument, decimals: 10 })).toBe(0);
    expect(mistakes(metadata, route, 200, instrument)).toBe(1);
    expect(mistakes(metadata, route, 200, { ...instrument, decimals: "10" })).toBe(1);
    expect(mistakes(metadata, route, 404, {})).toBe(1);
  });
});
