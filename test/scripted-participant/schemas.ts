/** Validates messages against the published OpenAPI and AsyncAPI documents. */
import { existsSync, readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { parse } from "yaml";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";

const folder = "../shared/reference";

export const hasDocuments = existsSync(`${folder}/ledger-openapi-3.5.1.yaml`);

interface AsyncApi {
  readonly channels: Readonly<
    Record<string, Readonly<Record<"subscribe" | "publish", { readonly message: { readonly $ref: string } }>>>
  >;
}

export class Documents {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #asyncapi: AsyncApi;

  /** Properties that a schema does not name are errors here. The documents allow them. */
  constructor() {
    const asyncapi = read("ledger-asyncapi-3.5.1.yaml");
    this.#ajv.addSchema(read("ledger-openapi-3.5.1.yaml"), "openapi").addSchema(asyncapi, "asyncapi");
    this.#asyncapi = asyncapi as unknown as AsyncApi;
  }

  /** Validates an HTTP response. A status other than 200 must have the error schema. Returns the errors. */
  answer(method: "get" | "post", path: string, status: number, body: JsonValue): readonly string[] {
    const key = status === 200 ? "200" : "default";
    const place = ["paths", path, method, "responses", key, "content", "application/json", "schema"];
    return this.#check(`openapi#/${place.map(escaped).join("/")}`, body);
  }

  body(path: string, body: JsonValue): readonly string[] {
    const place = ["paths", path, "post", "requestBody", "content", "application/json", "schema"];
    return this.#check(`openapi#/${place.map(escaped).join("/")}`, body);
  }

  /** Validates a message of a stream. The server's messages are under "subscribe". */
  message(path: string, direction: "subscribe" | "publish", message: JsonValue): readonly string[] {
    const reference = this.#asyncapi.channels[path]?.[direction].message.$ref ?? "";
    return this.#check(`asyncapi${reference}/payload`, message);
  }

  /** Validates a value against a schema of the OpenAPI document. */
  value(name: string, value: JsonValue): readonly string[] {
    return this.#check(`openapi#/components/schemas/${name}`, value);
  }

  #check(reference: string, value: JsonValue): readonly string[] {
    const validate = this.#validators.get(reference) ?? this.#ajv.compile({ $ref: reference });
    this.#validators.set(reference, validate);
    return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  }
}

function read(name: string): JsonObject {
  return close(parse(readFileSync(`${folder}/${name}`, "utf8")) as JsonObject) as JsonObject;
}

function close(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== "object" || value === null) return value;
  const made = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, close(inner)]));
  const isOpen = made.type === "object" && made.properties !== undefined && made.additionalProperties === undefined;
  return isOpen ? { ...made, additionalProperties: false } : made;
}

const escaped = (part: string): string => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
