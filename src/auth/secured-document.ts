import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isUtility } from "../transport/errors.js";
import { protectedOperations } from "./auth.js";

/** The name that the published document of the Utilities API has. */
const SCHEME = "BearerAuth";

type Operation = JsonObject & { readonly "x-rpc": string; readonly responses: JsonObject };
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/**
 * The OpenAPI document of a service that requires tokens: protected operations name the scheme, and can answer 401.
 * `selected` are the operations that need a token, as in protectedOperations, which throws for an unknown name.
 */
export function securedDocument(document: JsonObject, selected: readonly string[] | undefined): JsonObject {
  // The document is generated: its operations have the name of their rpc, and responses.
  const paths = document["paths"] as unknown as Paths;
  const names = Object.values(paths).flatMap((methods) => Object.values(methods).map((one) => one["x-rpc"]));
  const isProtected = protectedOperations(names, selected);
  const used: Record<string, JsonValue> = {};
  const secure = (path: string, operation: Operation): JsonObject => {
    if (!isProtected.has(operation["x-rpc"])) return operation;
    const [name, schema] = isUtility(path) ? ["Utility401", "Error"] : ["401", "ErrorResponse"];
    used[name] = unauthorized(schema);
    const reference = { $ref: `#/components/responses/${name}` };
    return { ...operation, security: [{ [SCHEME]: [] }], responses: { ...operation.responses, "401": reference } };
  };
  const secured = Object.entries(paths).map(([path, methods]): [string, JsonObject] => [
    path,
    Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, secure(path, operation)])),
  ]);
  const { responses, ...components } = document["components"] as JsonObject;
  const scheme = {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "A token of the issuer that this service trusts.",
  };
  return {
    ...document,
    paths: Object.fromEntries(secured),
    components: {
      securitySchemes: { [SCHEME]: scheme },
      responses: { ...(responses as JsonObject), ...used },
      ...components,
    },
  };
}

const unauthorized = (schema: string): JsonObject => ({
  description: "The token is missing or not valid.",
  headers: {
    "WWW-Authenticate": { description: "The challenge of RFC 6750, with the reason.", schema: { type: "string" } },
  },
  content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
});
