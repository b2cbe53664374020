/** Which operations need a token, the guard that rejects requests for them without a valid one, and their OpenAPI document. */
import type { DescService, JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import type { Config } from "../config/config.js";
import { SettingError } from "../config/setting.js";
import { isUtility, rejection } from "../transport/errors.js";
import { invalidToken, readBearerToken, reject } from "../transport/reject.js";
import type { RootPlugin } from "../transport/server.js";
import { DEFAULT_KEY_LIMITS, IssuerKeys, KeysUnavailable, TokenVerifier } from "./tokens.js";

/** Asymmetric only: with a shared secret, a service that can verify a token can also create one. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/**
 * Creates the plugin that verifies tokens; none without an issuer. `now` is in milliseconds since 1970, `clock` monotonic.
 * Throws SettingError.
 */
export function createAuth(
  config: Config,
  services: readonly DescService[],
  now: () => number,
  clock: () => number,
): RootPlugin[] {
  const { authJwksUrl: jwksUrl, authIssuer: issuer, authAudience: audience } = config;
  // The configuration sets all three or none.
  if (jwksUrl === undefined || issuer === undefined || audience === undefined) return [];
  if (jwksUrl.username !== "" || jwksUrl.password !== "") {
    throw new SettingError("OFFLEDGER_AUTH_JWKS_URL", "an http or https URL", "it must not contain credentials");
  }
  const names = services.flatMap(({ typeName, methods }) => methods.map(({ name }) => `${typeName}/${name}`));
  const operations = protectedOperations(names, config.authOperations);
  return [
    (server, log) => {
      const keys = new IssuerKeys(jwksUrl, log);
      const verifier = new TokenVerifier(keys, { issuer, audience, algorithms: ALGORITHMS }, now, clock);
      server.addHook("onRequest", async (request, reply) => {
        if (!operations.has(request.record.operation)) return undefined;
        const token = readBearerToken(request);
        const error = typeof token === "string" ? await errorOf(verifier.verify(token)) : token;
        if (error === undefined) return undefined;
        reject(request, reply, error);
        return reply;
      });
      // The first request need not wait, and the log shows a wrong URL at startup.
      keys.refresh();
    },
  ];
}

const unavailable = rejection(
  "ISSUER_UNAVAILABLE",
  "token cannot be verified: the keys of its issuer are unavailable; retry later",
  { retrySeconds: Math.ceil(DEFAULT_KEY_LIMITS.retryMs / 1000) },
);

/** The error to reject a request with; undefined where its token is valid. */
async function errorOf(reason: Promise<string | undefined>): Promise<ConnectError | undefined> {
  try {
    const invalid = await reason;
    return invalid === undefined ? undefined : invalidToken(invalid);
  } catch (error) {
    if (error instanceof KeysUnavailable) return unavailable;
    throw error;
  }
}

const VARIABLE = "OFFLEDGER_AUTH_OPERATIONS";
const ACCEPTS = "full names of operations or services";

/** Always open: probes send no token. */
const HEALTH = "offledger.health.v1.HealthService";
/** Open by default: a browser loads the same document at /docs. */
const OPEN_API = "offledger.operator.v0.OperatorService/GetOpenApiSpec";

/**
 * The operations that need a token. `all` are the full names of those that are served; `selected` may name services.
 * Throws SettingError for a name not served.
 */
function protectedOperations(all: readonly string[], selected: readonly string[] | undefined): ReadonlySet<string> {
  if (selected === undefined) return new Set(all.filter((name) => name !== OPEN_API && !isHealth(name)));
  return new Set(selected.flatMap((name) => expandName(name, all)));
}

function expandName(name: string, all: readonly string[]): string[] {
  if (isHealth(name)) throw new SettingError(VARIABLE, ACCEPTS, `${HEALTH} needs no token, so that probes work`);
  const operations = all.filter((operation) => operation === name || operation.startsWith(`${name}/`));
  if (operations.length > 0) return operations;
  throw new SettingError(VARIABLE, ACCEPTS, `"${name}" is not served; an example of a name is ${OPEN_API}`);
}

const isHealth = (name: string): boolean => name === HEALTH || name.startsWith(`${HEALTH}/`);

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
