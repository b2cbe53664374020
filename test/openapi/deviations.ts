/** Schemas of two documents, held against each other. */
import type { OpenApi, Schema } from "../fixtures/openapi.js";

/** A schema and the document that it stands in. */
type Part = readonly [api: OpenApi, schema: Schema];

/** A schema with what it refers to, and the names that it asks for. */
interface Shape {
  readonly type: string | undefined;
  readonly enum: readonly string[] | undefined;
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  readonly items: Schema | undefined;
}

function shapeOf(api: OpenApi, schema: Schema): Shape {
  const { $ref, allOf = [], properties = {}, required = [], items } = schema;
  const parts = [...($ref === undefined ? [] : [api.resolve({ $ref }) as Schema]), ...allOf].map((part) =>
    shapeOf(api, part),
  );
  return {
    type: schema.type ?? parts.find(({ type }) => type !== undefined)?.type,
    enum: schema.enum ?? parts.find((part) => part.enum !== undefined)?.enum,
    properties: Object.assign({}, ...parts.map((part) => part.properties), properties) as Shape["properties"],
    required: [...required, ...parts.flatMap((part) => part.required)],
    items: items ?? parts.find((part) => part.items !== undefined)?.items,
  };
}

/** How a schema of ours departs from a published one, a line each. */
export function deviations([api, theirs]: Part, [own, ours]: Part, asks: "request" | "answer", path = ""): string[] {
  const [their, our] = [shapeOf(api, theirs), shapeOf(own, ours)];
  const names = Object.keys(their.properties);
  // A request may leave out no less with us, and an answer of ours leaves out no more.
  const [strict, lax] = asks === "request" ? [our, their] : [their, our];
  const required = strict.required.filter((name) => !lax.required.includes(name));
  const [theirValues, ourValues] = [their, our].map((shape) => shape.enum?.toSorted().join());
  return [
    ...(their.type === our.type ? [] : [`${path} is ${our.type}, not ${their.type}`]),
    ...(theirValues === ourValues ? [] : [`${path} is one of ${ourValues}, not of ${theirValues}`]),
    ...required.map((name) => `${path}.${name} is ${asks === "request" ? "asked for" : "not sure to be there"}`),
    ...Object.keys(our.properties)
      .filter((name) => !names.includes(name))
      .map((name) => `${path}.${name} is ours`),
    ...Object.entries(their.properties).flatMap(([name, schema]) => {
      const known = our.properties[name];
      return known === undefined
        ? [`${path}.${name} is not there`]
        : deviations([api, schema], [own, known], asks, `${path}.${name}`);
    }),
    ...(their.items === undefined || our.items === undefined || their.type !== "array"
      ? []
      : deviations([api, their.items], [own, our.items], asks, `${path}[]`)),
  ];
}
