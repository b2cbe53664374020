/** Validates requests against the published OpenAPI document. */
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { documentNamed } from "../openapi/published.js";

export class Documents {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });

  /** Properties that a schema does not name are errors here. The document allows them. */
  constructor() {
    this.#ajv.addSchema(
      close(documentNamed("ledger-openapi-3.5.1.yaml") as unknown as JsonObject) as JsonObject,
      "openapi",
    );
  }

  /** Validates the body of a POST. Returns the errors. */
  body(path: string, body: JsonValue): readonly string[] {
    const place = ["paths", path, "post", "requestBody", "content", "application/json", "schema"];
    const validate = this.#ajv.compile({ $ref: `openapi#/${place.map(escaped).join("/")}` });
    return validate(body) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  }
}

function close(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== "object" || value === null) return value;
  const made = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, close(inner)]));
  const isOpen = made.type === "object" && made.properties !== undefined && made.additionalProperties === undefined;
  return isOpen ? { ...made, additionalProperties: false } : made;
}

const escaped = (part: string): string => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
