/** Right requests of every operation, to be made wrong. */
import { readFileSync } from "node:fs";
import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { calls } from "../test/fixtures/calls/index.js";
import { verbOf } from "../test/fixtures/protocols.js";

export interface Seed {
  readonly verb: "GET" | "POST";
  /** The path of REST, with the query where there is one. */
  readonly path: string;
  /** The body of REST; undefined for none. */
  readonly body: JsonValue | undefined;
  /** The path of the rpc. */
  readonly procedure: string;
  /** The message of the rpc, in both forms. */
  readonly json: JsonValue;
  readonly binary: Buffer;
}

export const seeds: readonly Seed[] = Object.values(calls).map(({ method, request, path, body }) => ({
  verb: verbOf(method),
  path,
  body,
  procedure: `/${method.parent.typeName}/${method.name}`,
  json: request,
  binary: Buffer.from(toBinary(method.input, fromJson(method.input, request))),
}));

/** The operations of the OpenAPI document, as `GET /livez`. */
const documented: readonly string[] = operationsOf(
  JSON.parse(readFileSync(new URL("../gen/openapi.json", import.meta.url), "utf8")) as Document,
);

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

function operationsOf({ paths }: Document): string[] {
  return Object.entries(paths).flatMap(([path, verbs]) =>
    Object.keys(verbs)
      .filter((verb) => ["get", "post"].includes(verb))
      .map((verb) => `${verb.toUpperCase()} ${path}`),
  );
}

/** Operations that are documented and have no seed. */
export function unseeded(): string[] {
  return documented.filter((operation) => {
    const [verb, template = ""] = operation.split(" ");
    const path = new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/?]+")}([?].*)?$`);
    return !seeds.some((seed) => seed.verb === verb && path.test(seed.path));
  });
}
