/** Compares schemas of two OpenAPI documents. */
import type { OpenApi, Schema } from "../fixtures/openapi.js";

/** A schema and its document. */
type Part = readonly [api: OpenApi, schema: Schema];

/** A schema with its references and allOf merged. */
interface Shape {
  readonly type: string | undefined;
  readonly enum: readonly string[] | undefined;
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  readonly items: Schema | undefined;
}

function mergeSchema(api: OpenApi, schema: Schema): Shape {
  const { $ref, allOf = [], properties = {}, required = [], items } = schema;
  const parts = [...($ref === undefined ? [] : [api.resolve({ $ref }) as Schema]), ...allOf].map((part) =>
    mergeSchema(api, part),
  );
  return {
    type: schema.type ?? parts.find(({ type }) => type !== undefined)?.type,
    enum: schema.enum ?? parts.find((part) => part.enum !== undefined)?.enum,
    properties: Object.assign({}, ...parts.map((part) => part.properties), properties) as Shape["properties"],
    required: [...required, ...parts.flatMap((part) => part.required)],
    items: items ?? parts.find((part) => part.items !== undefined)?.items,
  };
}

/** Lists the differences between a published schema and ours, one per line. */
export function deviations(
  [api, theirs]: Part,
  [own, ours]: Part,
  direction: "request" | "response",
  path = "",
): string[] {
  const [their, our] = [mergeSchema(api, theirs), mergeSchema(own, ours)];
  const names = Object.keys(their.properties);
  const types = their.type === our.type ? [] : [`${path} is ${our.type}, not ${their.type}`];
  // Published as an object of any content: ours says more.
  if (their.type === "object" && names.length === 0 && their.required.length === 0) return types;
  // Our requests require no more than theirs, and our responses no less.
  const [strict, lax] = direction === "request" ? [our, their] : [their, our];
  const required = strict.required.filter((name) => !lax.required.includes(name));
  const [theirValues, ourValues] = [their, our].map((shape) => shape.enum?.toSorted().join());
  return [
    ...types,
    ...(theirValues === ourValues ? [] : [`${path} is one of ${ourValues}, not of ${theirValues}`]),
    ...required.map((name) => `${path}.${name} is ${direction === "request" ? "required" : "not required"}`),
    ...Object.keys(our.properties)
      .filter((name) => !names.includes(name))
      .map((name) => `${path}.${name} is not published`),
    ...Object.entries(their.properties).flatMap(([name, schema]) => {
      const known = our.properties[name];
      return known === undefined
        ? [`${path}.${name} is missing`]
        : deviations([api, schema], [own, known], direction, `${path}.${name}`);
    }),
    ...(their.items === undefined || our.items === undefined || their.type !== "array"
      ? []
      : deviations([api, their.items], [own, our.items], direction, `${path}[]`)),
  ];
}
