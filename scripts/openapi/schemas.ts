/** Messages -> schemas of the OpenAPI document. */
import { type DescEnum, type DescField, type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence as Presence } from "@bufbuild/protobuf/wkt";
import {
  field as rulesOption,
  type FieldRules,
  message as messageOption,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { JsonObject } from "../../src/util/json.js";
import { restFields } from "../../src/transport/rest/rest.js";
import * as choiceArguments from "./choice-arguments.js";
import { readComment } from "./comments.js";
import { elementName, publishedField, publishedName, schemaNames, SHARED_DESCRIPTIONS } from "./names.js";
import { scalar } from "./scalars.js";

/** Messages that are not objects with the fields of the message. */
const OTHERS: Readonly<Record<string, JsonObject>> = {
  "google.protobuf.Struct": { type: "object" },
  // An object of any content, as the published documents have it.
  "offledger.choice_context.v1.ChoiceContextData": { type: "object" },
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
};

/** A list that, unlike a repeated field, may be absent. */
const LIST_VALUE = "google.protobuf.ListValue";

const IN_PROGRESS: JsonObject = {};

/** Collects a schema for each message, and returns references to them. */
export class Schemas {
  readonly #messages: ReadonlyMap<string, DescMessage>;
  readonly #names: ReadonlyMap<string, string>;
  readonly #schemas = new Map<string, JsonObject>();
  readonly #requests: ReadonlySet<string>;

  /** `messages` are all messages; `requests` are the type names of those that clients send. */
  constructor(messages: readonly DescMessage[], requests: ReadonlySet<string>) {
    this.#messages = new Map(messages.map((message) => [message.typeName, message]));
    this.#names = schemaNames(messages.filter((message) => choiceArguments.schemaOwner(message) === message.typeName));
    this.#requests = requests;
  }

  get all(): JsonObject {
    return Object.fromEntries([...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** A reference to the schema of a message, without its path parameters. `as` replaces its name. */
  of(message: DescMessage, inPath: readonly string[] = [], as?: string): JsonObject {
    const owner = this.#messages.get(choiceArguments.schemaOwner(message)) ?? message;
    return (
      OTHERS[owner.typeName] ??
      this.#refer(as ?? this.#names.get(owner.typeName) ?? owner.name, () => this.#object(owner, inPath))
    );
  }

  /** A reference to the schema of a request for a factory, whose choice arguments are of the type `form`. */
  ofFactoryRequest(message: DescMessage, inPath: readonly string[], form: DescMessage, acceptsOther: boolean) {
    const isVersion2 = acceptsOther && form.file.proto.package.endsWith(".v2");
    return this.#refer(`${message.name}${isVersion2 ? "V2" : ""}`, () => {
      const request = this.#object(message, inPath);
      const { choiceArguments: free, ...others } = request["properties"] as Record<string, { description: string }>;
      const accepts = acceptsOther ? [choiceArguments.ACCEPTS_OTHER] : [];
      const description = [free?.description ?? "", ...accepts, choiceArguments.UNKNOWN_FIELDS].join(" ");
      return { ...request, properties: { choiceArguments: { allOf: [this.of(form)], description }, ...others } };
    });
  }

  ofField(field: DescField): JsonObject {
    const { text } = readComment(field);
    const schema = this.#shape(field);
    return {
      ...("$ref" in schema ? { allOf: [schema] } : schema),
      description: text,
      ...(choiceArguments.isNullable(field) && { nullable: true }),
      ...(field.proto.options?.deprecated === true && { deprecated: true }),
    };
  }

  isRequired(field: DescField): boolean {
    const rules = rulesOf(field);
    if (rules?.required === true || isOnlyFormOnRest(field) || choiceArguments.isRequiredInJson(field)) return true;
    // The bounds of an optional field hold where it is present.
    if (field.presence === Presence.IMPLICIT && excludesEmpty(rules)) return true;
    if (field.fieldKind === "list" && minItems(rules) > 0) return true;
    // Responses always contain fields without presence.
    const isResponse = !this.#requests.has(field.parent.typeName);
    return (
      isResponse && (field.fieldKind === "list" || field.fieldKind === "map" || field.presence === Presence.IMPLICIT)
    );
  }

  /** Throws if the schema of that name is another one. */
  #refer(name: string, create: () => JsonObject): JsonObject {
    const reference = { $ref: `#/components/schemas/${name}` };
    const known = this.#schemas.get(name);
    // Messages may contain themselves.
    if (known === IN_PROGRESS) return reference;
    this.#schemas.set(name, IN_PROGRESS);
    const created = create();
    const schema = { ...created, description: SHARED_DESCRIPTIONS[name] ?? created["description"] ?? "" };
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two schemas have the name ${name}: ${JSON.stringify(known)} and ${JSON.stringify(schema)}`);
    }
    this.#schemas.set(name, schema);
    return reference;
  }

  #object(message: DescMessage, inPath: readonly string[]): JsonObject {
    const fields = restFields(message).filter(({ name }) => !inPath.includes(name));
    const required = fields.filter((field) => this.isRequired(field)).map(({ jsonName }) => jsonName);
    const isArguments = choiceArguments.isChoiceArguments(message);
    const properties = fields.map((field): [string, JsonObject] => [field.jsonName, this.ofField(field)]);
    if (isArguments && message.name.endsWith("Arguments")) properties.push(["extraArgs", this.#extraArgs()]);
    return {
      type: "object",
      description: readComment(message).text,
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(properties),
      ...(isArguments && { additionalProperties: true }),
    };
  }

  #extraArgs(): JsonObject {
    const { extraArgs, EXTRA_ARGS } = choiceArguments;
    return { allOf: [this.#refer(EXTRA_ARGS, () => extraArgs)], description: extraArgs["description"] ?? "" };
  }

  #shape(field: DescField): JsonObject {
    switch (field.fieldKind) {
      case "scalar":
        return scalar(field.scalar, rulesOf(field), readComment(field).text);
      case "enum":
        return this.#enumeration(field.enum);
      case "message":
        return field.message.typeName === LIST_VALUE ? this.#listOfNames(field) : this.of(field.message);
      case "map": {
        if (field.mapKind !== "scalar") throw new Error(`${field.toString()}: only maps of scalars are supported`);
        const map: JsonObject = { type: "object", additionalProperties: scalar(field.scalar, undefined, "") };
        const published = publishedField(field.name);
        return published === undefined ? map : this.#refer(published, () => map);
      }
      case "list": {
        const [min, max] = [minItems(rulesOf(field)), maxItems(rulesOf(field))];
        const limits = { ...(min > 0 && { minItems: min }), ...(max > 0 && { maxItems: max }) };
        return { type: "array", items: this.#items(field), ...limits };
      }
    }
  }

  #items(field: DescField & { fieldKind: "list" }): JsonObject {
    if (field.listKind === "message") return this.of(field.message);
    return field.listKind === "enum" ? this.#enumeration(field.enum) : scalar(field.scalar, undefined, "");
  }

  /** Throws unless the comment names the strings that the list may have, and they have a schema name. */
  #listOfNames(field: DescField): JsonObject {
    const { text } = readComment(field);
    const [, list = ""] = /Each is ((?:`\w+`(?: or |, )?)+), and none comes twice/.exec(text) ?? [];
    const names = [...list.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
    if (names.length === 0) throw new Error(`the comment of ${field.toString()} must say which strings it may have`);
    // Some generators write code that does not compile for a set of values without a name.
    const name = elementName(field.name);
    if (name === undefined) throw new Error(`the elements of ${field.toString()} need a schema name`);
    return { type: "array", items: this.#refer(name, () => ({ type: "string", enum: names })), uniqueItems: true };
  }

  /** Without the value 0, which is never sent. */
  #enumeration(desc: DescEnum): JsonObject {
    const names = desc.values.filter(({ number }) => number !== 0).map(({ name }) => name);
    const values = { type: "string", enum: names };
    const published = publishedName(desc.typeName);
    if (published === undefined) return values;
    return this.#refer(published, () => ({ ...values, description: readComment(desc).text }));
  }
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

function rulesOf(field: DescField): FieldRules | undefined {
  return hasOption(field, rulesOption) ? getOption(field, rulesOption) : undefined;
}

function excludesEmpty(rules: FieldRules | undefined): boolean {
  if (rules?.type.case !== "string") return false;
  const { minLen, pattern } = rules.type.value;
  return minLen > 0n || (pattern !== "" && !new RegExp(pattern).test(""));
}

const minItems = (rules: FieldRules | undefined): number =>
  rules?.type.case === "repeated" ? Number(rules.type.value.minItems) : 0;
const maxItems = (rules: FieldRules | undefined): number =>
  rules?.type.case === "repeated" ? Number(rules.type.value.maxItems) : 0;
