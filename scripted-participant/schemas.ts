/** The published documents of the ledger, to hold messages against. */
import { existsSync, readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { parse } from "yaml";
import type { JsonObject, JsonValue } from "../src/domain/json.js";

const folder = "../shared/reference";

/** Whether the documents are at hand. */
export const hasDocuments = existsSync(`${folder}/ledger-openapi-3.5.1.yaml`);

/** As much of an AsyncAPI document as leads to a message. */
interface AsyncApi {
  readonly channels: Readonly<
    Record<string, Readonly<Record<"subscribe" | "publish", { readonly message: { readonly $ref: string } }>>>
  >;
}

export class Documents {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #asyncapi: AsyncApi;

  /** Where `closed`, an object may have no property that its schema does not name: the documents leave that open. */
  constructor({ closed }: { readonly closed: boolean }) {
    const asyncapi = read("ledger-asyncapi-3.5.1.yaml", closed);
    this.#ajv.addSchema(read("ledger-openapi-3.5.1.yaml", closed), "openapi").addSchema(asyncapi, "asyncapi");
    this.#asyncapi = asyncapi as unknown as AsyncApi;
  }

  /** What is wrong with the answer of a call over HTTP; an answer other than 200 is taken for an error. */
  answer(method: "get" | "post", path: string, status: number, body: JsonValue): readonly string[] {
    const key = status === 200 ? "200" : "default";
    const place = ["paths", path, method, "responses", key, "content", "application/json", "schema"];
    return this.#check(`openapi#/${place.map(escaped).join("/")}`, body);
  }

  /** What is wrong with the body of a call over HTTP. */
  body(path: string, body: JsonValue): readonly string[] {
    const place = ["paths", path, "post", "requestBody", "content", "application/json", "schema"];
    return this.#check(`openapi#/${place.map(escaped).join("/")}`, body);
  }

  /** What is wrong with a message of a stream, by direction: the server's are those one subscribes to. */
  message(path: string, direction: "subscribe" | "publish", message: JsonValue): readonly string[] {
    const reference = this.#asyncapi.channels[path]?.[direction].message.$ref ?? "";
    return this.#check(`asyncapi${reference}/payload`, message);
  }

  /** What is wrong with a value by one of the schemas of the OpenAPI document. */
  value(name: string, value: JsonValue): readonly string[] {
    return this.#check(`openapi#/components/schemas/${name}`, value);
  }

  #check(reference: string, value: JsonValue): readonly string[] {
    const validate = this.#validators.get(reference) ?? this.#ajv.compile({ $ref: reference });
    this.#validators.set(reference, validate);
    return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  }
}

function read(name: string, closed: boolean): JsonObject {
  const document = parse(readFileSync(`${folder}/${name}`, "utf8")) as JsonObject;
  return closed ? (close(document) as JsonObject) : document;
}

function close(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== "object" || value === null) return value;
  const made = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, close(inner)]));
  const isOpen = made.type === "object" && made.properties !== undefined && made.additionalProperties === undefined;
  return isOpen ? { ...made, additionalProperties: false } : made;
}

const escaped = (part: string): string => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
