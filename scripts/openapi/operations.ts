/** Rpcs with their google.api.http rules -> operations of the OpenAPI document. */
import { type DescField, type DescMethod, getOption } from "@bufbuild/protobuf";
import { http } from "../../gen/google/api/annotations_pb.js";
import type { JsonObject } from "../../src/domain/json.js";
import { isUtility, statusOf } from "../../src/transport/errors.js";
import { bindingsOf } from "../../src/transport/rest/http-rules.js";
import { restFields } from "../../src/transport/rest/rest-fields.js";
import { camel, readComment } from "./comments.js";
import { pascal, type Schemas } from "./schemas.js";

export interface Route {
  readonly path: string;
  readonly method: string;
  readonly operation: JsonObject;
}

/** Throws unless the rpc has exactly one rule. */
export function createRoute(method: DescMethod, tag: string, schemas: Schemas): Route {
  const [binding, second] = bindingsOf(method);
  const { pattern } = getOption(method, http);
  if (binding === undefined || second !== undefined || typeof pattern.value !== "string") {
    throw new Error(`${method.toString()} must have exactly one google.api.http rule`);
  }
  const path = pattern.value.replaceAll(/\{([^}]+)\}/g, (_, name: string) => `{${camel(name)}}`);
  const inPath = binding.path.variables.map(({ fieldPath }) => fieldPath.join("."));
  const rest = restFields(method.input).filter(({ name }) => !inPath.includes(name));
  const parameters = [
    ...inPath.map((name) => parameter("path", findField(method, name), true, schemas)),
    ...(binding.hasBody ? [] : rest.map((field) => parameter("query", field, schemas.isRequired(field), schemas))),
  ];
  const { text, errors } = readComment(method);
  const body = binding.hasBody && rest.length > 0;
  const operation = {
    tags: [tag],
    operationId: operationId(method),
    summary: text.split(/(?<=\.) /)[0] ?? text,
    description: text,
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: rest.some((field) => schemas.isRequired(field)),
        content: { "application/json": { schema: schemas.of(method.input, inPath) } },
      },
    }),
    responses: {
      "200": {
        description: readComment(method.output.typeName.startsWith("google.") ? method : method.output).text,
        ...json(schemas.of(method.output)),
      },
      ...errorResponses(path, errors, binding.httpMethod === "POST", parameters.length > 0),
    },
  };
  return { path, method: binding.httpMethod.toLowerCase(), operation };
}

function errorResponses(
  path: string,
  errors: ReadonlyMap<string, string>,
  // POST operations without fields also accept a body.
  hasBody: boolean,
  hasParameters: boolean,
): JsonObject {
  const isHealth = !path.startsWith("/api/");
  const common: [number, string][] = [
    ...(hasBody || hasParameters
      ? [[400, "When a field or parameter is missing or invalid."] as [number, string]]
      : []),
    ...(hasBody
      ? ([
          [413, "When the body is too large."],
          [415, "When the body is not JSON."],
        ] as [number, string][])
      : []),
    ...(isHealth
      ? []
      : ([[500, "A defect of the service; the operator's log has the details."]] as [number, string][])),
    [
      503,
      isHealth
        ? "When the service is stopping."
        : "When no contracts have been read yet, they are too old, the service is overloaded, or it is stopping.",
    ],
  ];
  const own = [...errors].map(([name, cause]): [number, string] => {
    const status = statusOf(name);
    if (status === undefined) throw new Error(`${path}: unknown error ${name}`);
    return [status, cause];
  });
  const schema = { $ref: `#/components/schemas/${isUtility(path) ? "UtilityError" : "Error"}` };
  return Object.fromEntries(
    [...common, ...own].map(([status, description]) => [
      String(status),
      { description, ...(status === 503 && { headers: { "Retry-After": retryAfter } }), ...json(schema) },
    ]),
  );
}

const retryAfter = { description: "Seconds to wait before a retry.", schema: { type: "integer" } };

export const errorSchemas: JsonObject = {
  Error: {
    type: "object",
    description: "An error.",
    required: ["error"],
    properties: { error: { type: "string", description: "What is wrong, with which value, and what to do." } },
  },
  UtilityError: {
    type: "object",
    description: "An error of a utility operation.",
    required: ["error", "error_description"],
    properties: {
      error: {
        type: "string",
        description: "The kind of error, such as `not_found`; `unknown_error` for a defect.",
      },
      error_description: { type: "string", description: "What is wrong, with which value, and what to do." },
    },
  },
};

function parameter(location: "path" | "query", field: DescField, required: boolean, schemas: Schemas): JsonObject {
  const { description, ...schema } = schemas.ofField(field);
  return { name: field.jsonName, in: location, required, description: description ?? "", schema };
}

function findField({ input }: DescMethod, name: string): DescField {
  const field = input.fields.find((known) => known.name === name);
  if (field === undefined) throw new Error(`${input.typeName} has no field ${name}`);
  return field;
}

/** Includes the version, since versions share rpc names: `transferInstructionV1GetTransferFactory`. */
function operationId({ parent, name }: DescMethod): string {
  const group = pascal(parent.file.proto.package.replace(/^offledger\./, ""));
  return group.charAt(0).toLowerCase() + group.slice(1) + name;
}

const json = (schema: JsonObject): JsonObject => ({ content: { "application/json": { schema } } });
