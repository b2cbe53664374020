/** The example request of every operation succeeds on the demo registry, and fails without any field that is required. */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Ajv } from "ajv";
import { OpenApi, type Schema } from "../fixtures/openapi.js";
import { type ExampleRequest, exampleRequests, fetchDocument, sendExample } from "../fixtures/openapi-examples.js";
import { type Running, serveFile } from "../fixtures/run-service.js";

/** Operations that cannot succeed on a file, by their published paths. */
const UNAVAILABLE: Readonly<Record<string, { readonly status: number; readonly message: string }>> = {
  getAllocationInstructionAcceptContext: { status: 400, message: "is not an allocation instruction that is pending" },
  getAllocationInstructionWithdrawContext: { status: 400, message: "is not an allocation instruction that is pending" },
  verifyTransferProof: { status: 404, message: "no access to ledger updates" },
};

let running: Running;
let served: OpenApi;
beforeAll(async () => {
  running = await serveFile(undefined, { now: new Date().toISOString() });
  served = new OpenApi(await fetchDocument(running.url));
});
afterAll(() => running.close());

describe("the examples", () => {
  test("succeed", async () => {
    const requests = exampleRequests(served);
    expect(requests.length).toBeGreaterThan(40);
    const wrong: string[] = [];
    for (const request of requests) {
      const { status: expected, message } = UNAVAILABLE[request.operationId] ?? { status: 200, message: "" };
      const response = await sendExample(running.url, request);
      const text = await response.text();
      if (response.status !== expected || !text.includes(message)) {
        wrong.push(`${request.route}: ${response.status} ${text}`);
      }
      wrong.push(
        ...served
          .validate(request.route, response.status, JSON.parse(text) as JsonValue)
          .map((what) => `${request.route}: ${what}`),
      );
    }
    expect(wrong).toEqual([]);
  });

  test("conform to the document", () => {
    const { components } = served.document;
    const ajv = new Ajv({ strict: false, validateFormats: false });
    for (const { route, body } of exampleRequests(served)) {
      const schema = served.operation(route).requestBody?.content["application/json"]?.schema;
      const isValid = schema === undefined || ajv.validate({ ...schema, components }, body);
      expect({ route, errors: isValid ? [] : ajv.errors }).toEqual({ route, errors: [] });
    }
  });

  test("show every field of choice arguments", () => {
    for (const request of exampleRequests(served)) {
      const absent = fieldsOf(served, request).filter(({ isPresent }) => !isPresent);
      const paths = absent.map(({ path }) => path.join("."));
      expect({ route: request.route, paths }).toEqual({ route: request.route, paths: [] });
    }
  });
});

/**
 * Required by the document, not by the operation: a side of a leg is described in full, but an allocation does not read
 * the other account.
 */
const STRICTER: ReadonlySet<string> = new Set(["choiceArguments.allocation.transferLegSides.0.otherside"]);

describe("a request without one field", () => {
  test("is rejected exactly where the document requires the field", async () => {
    const wrong: string[] = [];
    let required = 0;
    for (const request of exampleRequests(served)) {
      const { status: usual } = UNAVAILABLE[request.operationId] ?? { status: 200 };
      if (usual === 400) continue;
      for (const field of fieldsOf(served, request).filter(isIndependent)) {
        const name = field.path.join(".");
        const response = await sendExample(running.url, { ...request, body: without(request.body ?? {}, field.path) });
        const expected = field.isRequired && !STRICTER.has(name) ? 400 : usual;
        await response.arrayBuffer();
        required += expected === 400 ? 1 : 0;
        if (response.status !== expected) wrong.push(`${request.operationId} without ${name}: ${response.status}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(required).toBeGreaterThan(40);
  });

  test("may have null where the document says so", async () => {
    const wrong: string[] = [];
    let nullable = 0;
    for (const request of exampleRequests(served)) {
      if (request.operationId in UNAVAILABLE) continue;
      for (const field of fieldsOf(served, request).filter((one) => one.isNullable && isIndependent(one))) {
        const body = withValue(request.body ?? {}, field.path, null);
        const response = await sendExample(running.url, { ...request, body });
        await response.arrayBuffer();
        nullable++;
        if (response.status !== 200) wrong.push(`${request.operationId}: ${field.path.join(".")}: ${response.status}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(nullable).toBeGreaterThan(10);
  });
});

/** Without an owner an account must have a provider, which a schema cannot say. */
const isIndependent = ({ path }: Field): boolean => path.at(-1) !== "owner";

interface Field {
  readonly path: readonly string[];
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  readonly isPresent: boolean;
}

/** The fields that the schemas of a body describe, as far as the example has objects for them. */
function fieldsOf(api: OpenApi, { route, body }: ExampleRequest): Field[] {
  const schema = api.operation(route).requestBody?.content["application/json"]?.schema;
  return schema === undefined || body === undefined ? [] : fieldsIn(api, schema, body, []);
}

function fieldsIn(api: OpenApi, schema: Schema, value: JsonValue, path: readonly string[]): Field[] {
  const { properties = {}, required = [], items } = resolve(api, schema);
  if (Array.isArray(value)) {
    return items === undefined
      ? []
      : value.flatMap((one, index) => fieldsIn(api, items, one, path.concat(String(index))));
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(properties).flatMap(([name, inner]) => {
    const field: Field = {
      path: path.concat(name),
      isRequired: required.includes(name),
      isNullable: inner.nullable === true,
      isPresent: name in value,
    };
    return [field].concat(fieldsIn(api, inner, value[name] ?? null, field.path));
  });
}

function resolve(api: OpenApi, schema: Schema): Schema {
  const [part] = schema.allOf ?? [];
  if (part !== undefined) return resolve(api, part);
  return schema.$ref === undefined ? schema : (api.resolve({ $ref: schema.$ref }) as Schema);
}

const without = (body: JsonObject, path: readonly string[]): JsonObject => withValue(body, path, undefined);

function withValue(body: JsonObject, path: readonly string[], value: JsonValue | undefined): JsonObject {
  const copy = structuredClone(body);
  let at: Record<string, JsonValue> = copy;
  for (const name of path.slice(0, -1)) at = at[name] as JsonObject;
  const last = path.at(-1) ?? "";
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}
