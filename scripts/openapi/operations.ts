/** Rpcs with their bindings -> operations of the OpenAPI document. */
import type { DescField, DescMethod } from "@bufbuild/protobuf";
import type { JsonObject } from "../../src/util/json.js";
import { bindingOf } from "../../src/transport/rest/bindings.js";
import { restFields } from "../../src/transport/rest/rest.js";
import { formOf } from "./choice-arguments.js";
import { conditions, isCacheable, notModifiedHeader, validatorHeaders } from "./caching.js";
import { camel, readComment } from "./comments.js";
import { type Example, exampleOf } from "./examples.js";
import { publishedBody } from "./names.js";
import { requestIdHeader } from "./request-id.js";
import { errorsOf, listCauses } from "./responses.js";
import type { Schemas } from "./schemas.js";

/** Events have no schema of their own in OpenAPI 3.0. */
const EVENT_STREAM: JsonObject = { "text/event-stream": { schema: { type: "string" } } };

export const isStream = ({ methodKind }: DescMethod): boolean => methodKind === "server_streaming";

export interface Route {
  readonly path: string;
  readonly method: string;
  readonly operation: JsonObject;
}

/** Throws unless the rpc has a rule and an example. */
export function createRoute(method: DescMethod, operationId: string, tag: string, schemas: Schemas): Route {
  const binding = bindingOf(method);
  if (binding === undefined) throw new Error(`${method.toString()} must have a google.api.http rule`);
  const path = binding.route.replaceAll(/:(\w+)/g, (_, name: string) => `{${camel(name)}}`);
  const inPath = binding.inPath.map(({ name }) => name);
  const rest = restFields(method.input).filter(({ name }) => !inPath.includes(name));
  const hasBody = binding.hasBody && rest.length > 0;
  const example = exampleOf(operationId, hasBody);
  const inQuery = binding.hasBody ? [] : rest;
  const parameters = [
    ...binding.inPath.map((field) => parameter("path", field, true, example, schemas)),
    ...inQuery.map((field) => parameter("query", field, schemas.isRequired(field), example, schemas)),
  ];
  const isGet = binding.httpMethod === "GET";
  const headers = isCacheable(method) ? conditions(isGet) : [];
  const { text, errors } = readComment(method);
  const operation = {
    tags: [tag],
    operationId,
    summary: text.split(/(?<=\.) /)[0] ?? text,
    description: text + listCauses(path, errors),
    "x-rpc": `${method.parent.typeName}/${method.name}`,
    ...(parameters.length + headers.length > 0 && { parameters: [...parameters, ...headers] }),
    ...(hasBody && {
      requestBody: {
        required: rest.some((field) => schemas.isRequired(field)),
        content: {
          "application/json": { schema: bodyOf(method, operationId, inPath, schemas), example: example.body ?? {} },
        },
      },
    }),
    responses: {
      "200": {
        description: readComment(method.output.typeName.startsWith("google.") ? method : method.output).text,
        headers: { ...requestIdHeader, ...(isCacheable(method) && { ...validatorHeaders, ...notModifiedHeader }) },
        content: isStream(method) ? EVENT_STREAM : { "application/json": { schema: schemas.of(method.output) } },
      },
      ...(isCacheable(method) && isGet && { "304": { $ref: "#/components/responses/304" } }),
      ...errorsOf({ path, isPost: binding.httpMethod === "POST", hasParameters: parameters.length > 0, errors }),
    },
  };
  return { path, method: binding.httpMethod.toLowerCase(), operation };
}

function bodyOf(method: DescMethod, operationId: string, inPath: readonly string[], schemas: Schemas): JsonObject {
  const arguments_ = formOf(method);
  if (arguments_ === undefined) return schemas.of(method.input, inPath, publishedBody(operationId));
  return schemas.ofFactoryRequest(method.input, inPath, arguments_.form, arguments_.acceptsOther);
}

function parameter(
  location: "path" | "query",
  field: DescField,
  required: boolean,
  { parameters: { [field.jsonName]: example } }: Example,
  schemas: Schemas,
): JsonObject {
  const { description, ...schema } = schemas.ofField(field);
  return {
    name: field.jsonName,
    in: location,
    required,
    description: description ?? "",
    ...(example !== undefined && { example }),
    schema,
  };
}
