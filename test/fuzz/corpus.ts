/** The corpus: a valid request for each operation, which the generators mutate. */
import { readFileSync } from "node:fs";
import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { calls } from "../fixtures/calls/index.js";
import { verbOf } from "../fixtures/protocols.js";

export interface CorpusEntry {
  readonly verb: "GET" | "POST";
  readonly path: string;
  /** The REST body; undefined for GET. */
  readonly body: JsonValue | undefined;
  readonly procedure: string;
  readonly json: JsonValue;
  readonly binary: Buffer;
}

export const corpus: readonly CorpusEntry[] = Object.values(calls).map(({ method, request, path, body }) => ({
  verb: verbOf(method),
  path,
  body,
  procedure: `/${method.parent.typeName}/${method.name}`,
  json: request,
  binary: Buffer.from(toBinary(method.input, fromJson(method.input, request))),
}));

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A stream does not end, which the fuzz test would take for a fault: test/transport/watch has malformed requests. */
const STREAMS: ReadonlySet<string> = new Set(["GET /api/offledger/v1/watch"]);

/** Operations of the OpenAPI document that the corpus lacks, as `GET /livez`. */
export function findUncovered(): string[] {
  return listOperations(readOpenApi()).filter((operation) => {
    if (STREAMS.has(operation)) return false;
    const [verb, template = ""] = operation.split(" ");
    const path = new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/?]+")}([?].*)?$`);
    return !corpus.some((entry) => entry.verb === verb && path.test(entry.path));
  });
}

function readOpenApi(): OpenApiDocument {
  return JSON.parse(readFileSync(new URL("../../gen/openapi.json", import.meta.url), "utf8")) as OpenApiDocument;
}

function listOperations({ paths }: OpenApiDocument): string[] {
  return Object.entries(paths).flatMap(([path, verbs]) =>
    Object.keys(verbs)
      .filter((verb) => ["get", "post"].includes(verb))
      .map((verb) => `${verb.toUpperCase()} ${path}`),
  );
}
