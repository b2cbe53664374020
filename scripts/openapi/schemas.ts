import { type DescEnum, type DescField, type DescMessage, getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence as Presence } from "@bufbuild/protobuf/wkt";
import {
  field as rulesOption,
  type FieldRules,
  message as messageOption,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { JsonObject } from "../../src/domain/json.js";
import { restFields } from "../../src/transport/rest/rest-fields.js";
import { readComment } from "./comments.js";

/** The published name of the requests for factories, which differ in their typed arguments alone. */
const FACTORY_REQUEST = "GetFactoryRequest";
const isFactoryRequest = (name: string): boolean => /^Get(Transfer|Allocation|Settlement)FactoryRequest$/.test(name);

/** Messages that REST has as objects of any content, as the published documents do. */
const OBJECTS: ReadonlySet<string> = new Set([
  "google.protobuf.Struct",
  "offledger.choice_context.v1.ChoiceContextData",
]);

/** A list that, unlike a repeated field, may be absent. */
const LIST_VALUE = "google.protobuf.ListValue";

/** Collects a schema for each message, and returns references to them. */
export class Schemas {
  readonly #names: ReadonlyMap<string, string>;
  readonly #schemas = new Map<string, JsonObject>();
  readonly #requests: ReadonlySet<string>;

  /** `messages` are all messages; `requests` are the type names of those that clients send. */
  constructor(messages: readonly DescMessage[], requests: ReadonlySet<string>) {
    const names = messages.map(({ name }) => name);
    this.#names = new Map(
      messages.map(({ typeName, name, file }) => {
        const isShared = names.filter((other) => other === name).length > 1;
        return [
          typeName,
          isFactoryRequest(name)
            ? FACTORY_REQUEST
            : isShared
              ? pascal(file.proto.package.replace(/^offledger\./, "")) + name
              : name,
        ];
      }),
    );
    this.#requests = requests;
  }

  get all(): JsonObject {
    return Object.fromEntries([...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** A reference to the schema of a message, without its path parameters. */
  of(message: DescMessage, inPath: readonly string[] = []): JsonObject {
    if (OBJECTS.has(message.typeName)) return { type: "object" };
    const name = this.#names.get(message.typeName) ?? message.name;
    if (!this.#schemas.has(name)) {
      this.#schemas.set(name, {});
      this.#schemas.set(name, this.#object(message, inPath));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  ofField(field: DescField): JsonObject {
    const { text } = readComment(field);
    const schema = this.#shape(field);
    const described = "$ref" in schema ? { allOf: [schema], description: text } : { ...schema, description: text };
    return field.proto.options?.deprecated === true ? { ...described, deprecated: true } : described;
  }

  isRequired(field: DescField): boolean {
    const rules = rulesOf(field);
    if (rules?.required === true || minLength(rules) > 0 || isOnlyFormOnRest(field)) return true;
    // Responses always contain fields without presence.
    const isResponse = !this.#requests.has(field.parent.typeName);
    return (
      isResponse && (field.fieldKind === "list" || field.fieldKind === "map" || field.presence === Presence.IMPLICIT)
    );
  }

  #object(message: DescMessage, inPath: readonly string[]): JsonObject {
    const fields = restFields(message).filter(({ name }) => !inPath.includes(name));
    const required = fields.filter((field) => this.isRequired(field)).map(({ jsonName }) => jsonName);
    return {
      type: "object",
      description: readComment(message).text,
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(fields.map((field) => [field.jsonName, this.ofField(field)])),
    };
  }

  #shape(field: DescField): JsonObject {
    switch (field.fieldKind) {
      case "scalar":
        return scalar(field.scalar, rulesOf(field), readComment(field).text);
      case "enum":
        return enumeration(field.enum);
      case "message":
        return field.message.typeName === LIST_VALUE ? listOfNames(field) : this.of(field.message);
      case "map":
        if (field.mapKind !== "scalar") throw new Error(`${field.toString()}: only maps of scalars are supported`);
        return { type: "object", additionalProperties: scalar(field.scalar, undefined, "") };
      case "list": {
        const maxItems = rulesOf(field)?.type.case === "repeated" ? readMaxItems(rulesOf(field)) : undefined;
        return { type: "array", items: this.#items(field), ...(maxItems !== undefined && { maxItems }) };
      }
    }
  }

  #items(field: DescField & { fieldKind: "list" }): JsonObject {
    if (field.listKind === "message") return this.of(field.message);
    return field.listKind === "enum" ? enumeration(field.enum) : scalar(field.scalar, undefined, "");
  }
}

function scalar(type: ScalarType, rules: FieldRules | undefined, comment: string): JsonObject {
  switch (type) {
    case ScalarType.STRING: {
      const { minLen = 0n, maxLen = 0n, pattern = "" } = rules?.type.case === "string" ? rules.type.value : {};
      return {
        type: "string",
        ...(minLen > 0n && { minLength: Number(minLen) }),
        ...(maxLen > 0n && { maxLength: Number(maxLen) }),
        ...(pattern !== "" && { pattern }),
        // Times are strings in proto, to keep every digit of the ledger.
        ...(comment.includes("RFC 3339") && { format: "date-time" }),
      };
    }
    case ScalarType.BOOL:
      return { type: "boolean", default: false };
    case ScalarType.INT32: {
      const limits = rules?.type.case === "int32" ? rules.type.value : undefined;
      return {
        type: "integer",
        format: "int32",
        ...(limits?.greaterThan.case === "gte" && { minimum: limits.greaterThan.value }),
        ...(limits?.lessThan.case === "lte" && { maximum: limits.lessThan.value }),
      };
    }
    // Base64, without the format that the published documents do not give.
    case ScalarType.BYTES:
      return { type: "string" };
    default:
      throw new Error(`fields of type ${ScalarType[type]} are not supported`);
  }
}

/** Throws unless the comment names the strings that the list may have. */
function listOfNames(field: DescField): JsonObject {
  const { text } = readComment(field);
  const [, list = ""] = /Each is ((?:`\w+`(?: or |, )?)+), and none comes twice/.exec(text) ?? [];
  const names = [...list.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
  if (names.length === 0) throw new Error(`the comment of ${field.toString()} must say which strings it may have`);
  return { type: "array", items: { type: "string", enum: names }, uniqueItems: true };
}

/** Whether the message needs one of several fields, of which REST has this one alone. */
function isOnlyFormOnRest({ parent, name }: DescField): boolean {
  return getOption(parent, messageOption).oneof.some(
    ({ fields, required }) =>
      required &&
      fields.includes(name) &&
      restFields(parent).filter((other) => fields.includes(other.name)).length === 1,
  );
}

/** Without the value 0, which is never sent. */
function enumeration({ values }: DescEnum): JsonObject {
  return { type: "string", enum: values.filter(({ number }) => number !== 0).map(({ name }) => name) };
}

function rulesOf(field: DescField): FieldRules | undefined {
  return hasOption(field, rulesOption) ? getOption(field, rulesOption) : undefined;
}

function minLength(rules: FieldRules | undefined): number {
  return rules?.type.case === "string" ? Number(rules.type.value.minLen) : 0;
}

function readMaxItems(rules: FieldRules | undefined): number | undefined {
  const max = rules?.type.case === "repeated" ? Number(rules.type.value.maxItems) : 0;
  return max > 0 ? max : undefined;
}

/** `utility.v0` -> `UtilityV0`. */
export function pascal(name: string): string {
  return name
    .split(/[._]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");
}
