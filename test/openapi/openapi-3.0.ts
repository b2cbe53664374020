/**
 * The form of an OpenAPI 3.0 document as a JSON schema, written out from the
 * specification: those of its objects that ours has, with nothing else allowed
 * in them. Stricter in one thing: wherever a description is allowed, it is required.
 */
const text = { type: "string", minLength: 1 };
const count = { type: "integer", minimum: 0 };
const ref = (name: string) => ({ $ref: `#/$defs/${name}` });
const mapOf = (values: object, names = ".") => ({
  type: "object",
  propertyNames: { pattern: names },
  additionalProperties: values,
});

function object(required: Record<string, object>, optional: Record<string, object> = {}) {
  const properties = { ...required, ...optional };
  return { type: "object", required: Object.keys(required), properties, additionalProperties: false };
}

const has = (name: string, value: string | boolean) => ({ required: [name], properties: { [name]: { const: value } } });
const isOf = (type: string) => has("type", type);
const when = (condition: object, consequence: object) => ({ anyOf: [{ not: condition }, consequence] });

const NAMES = "^[A-Za-z0-9._-]+$";
const referenceTo = (what: string) =>
  object({ $ref: { type: "string", pattern: `^#/components/${what}/[A-Za-z0-9._-]+$` } });

const schemaObject = object(
  {},
  {
    type: { enum: ["object", "array", "string", "boolean", "integer", "number"] },
    description: text,
    deprecated: { const: true },
    nullable: { const: true },
    default: {},
    format: text,
    enum: { type: "array", minItems: 1, uniqueItems: true },
    pattern: { type: "string", format: "regex" },
    minimum: { type: "number" },
    maximum: { type: "number" },
    minLength: count,
    maxLength: count,
    minItems: count,
    maxItems: count,
    uniqueItems: { const: true },
    items: ref("schema"),
    required: { type: "array", minItems: 1, uniqueItems: true, items: text },
    properties: mapOf(ref("schema")),
    additionalProperties: { anyOf: [{ const: true }, ref("schema")] },
    allOf: { type: "array", minItems: 1, items: ref("schema") },
  },
);

const schema = {
  oneOf: [
    referenceTo("schemas"),
    {
      ...schemaObject,
      anyOf: [{ required: ["type"] }, { required: ["allOf"] }],
      allOf: [
        when(isOf("array"), { required: ["items"] }),
        when({ required: ["items"] }, isOf("array")),
        when({ required: ["properties"] }, isOf("object")),
      ],
    },
  ],
};

const content = {
  ...mapOf(object({ schema: ref("schema") }, { example: {} }), "^[a-z]+/[a-z0-9.+-]+$"),
  minProperties: 1,
};

const parameter = object(
  {
    name: text,
    in: { enum: ["path", "query", "header", "cookie"] },
    required: { type: "boolean" },
    description: text,
    schema: ref("schema"),
  },
  { example: {} },
);

const header = object({ description: text, schema: ref("schema") });

const response = object(
  { description: text },
  // Of 304 there is none.
  { content, headers: mapOf({ oneOf: [referenceTo("headers"), header] }) },
);

const operation = object(
  {
    tags: { type: "array", minItems: 1, items: text },
    operationId: { type: "string", pattern: "^[A-Za-z][A-Za-z0-9]*$" },
    summary: text,
    description: text,
    responses: { ...mapOf({ oneOf: [referenceTo("responses"), response] }, "^[1-5]\\d\\d$"), required: ["200"] },
  },
  {
    parameters: {
      type: "array",
      items: { allOf: [parameter, when(has("in", "path"), has("required", true))] },
    },
    requestBody: object({ content }, { required: { type: "boolean" }, description: text }),
    security: { type: "array", items: mapOf({ type: "array" }) },
    "x-rpc": text,
  },
);

const components = object(
  { schemas: mapOf(ref("schema"), NAMES) },
  {
    headers: mapOf(header, NAMES),
    responses: mapOf(response, NAMES),
    securitySchemes: mapOf(
      object({ type: { const: "http" }, scheme: text, description: text }, { bearerFormat: text }),
      NAMES,
    ),
  },
);

export const openApi30 = {
  ...object(
    {
      openapi: { type: "string", pattern: "^3\\.0\\.\\d$" },
      info: object({ title: text, version: text, description: text }),
      paths: mapOf(
        // What is read has no body.
        object({}, { get: { ...operation, not: { required: ["requestBody"] } }, post: operation }),
        "^/",
      ),
      components,
    },
    {
      servers: { type: "array", items: object({ url: text }) },
      security: { type: "array", items: mapOf({ type: "array" }) },
      tags: { type: "array", items: object({ name: text, description: text }) },
    },
  ),
  $defs: { schema },
};
