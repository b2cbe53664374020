/**
 * The published OpenAPI documents of the token standard, one file each in the folder `apis`: the operations that there are, and
 * what their responses have to be.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import { Ajv, type ValidateFunction } from "ajv";
import { isObject, type Json, type JsonObject } from "./json.js";

export interface Operation {
  /** Of the document: `listInstruments`. */
  readonly id: string;
  /** The file and the version of its document: `transfer-instruction-v1 1.1.0`. */
  readonly document: string;
  /** `transfer-instruction-v1`. */
  readonly api: string;
  readonly method: "GET" | "POST";
  /** With fields in braces: `/registry/metadata/v1/instruments/{instrumentId}`. */
  readonly path: string;
  /** The statuses that the document names. */
  readonly statuses: readonly number[];
  /** What is wrong with a body of this status, a sentence each; empty also where the document does not describe one. */
  readonly defects: (status: number, body: Json | undefined) => readonly string[];
}

interface Document {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string } & JsonObject>>>>;
}

/** Also where the program is part of a larger package. */
const FOLDER = new URL("./", pathToFileURL(createRequire(import.meta.url).resolve("#apis/token-metadata-v1.yaml.br")));

let operations: readonly Operation[] | undefined;

/** Reads them once: each has a validator that is compiled. */
export function readOperations(): readonly Operation[] {
  if (operations !== undefined) return operations;
  const names = readdirSync(FOLDER)
    .filter((name) => name.endsWith(".yaml.br"))
    .map((name) => name.replace(/\.yaml\.br$/, ""));
  operations = names.toSorted().flatMap((name) => operationsOf(name, readDocument(name)));
  return operations;
}

const readDocument = (name: string): Document =>
  JSON.parse(brotliDecompressSync(readFileSync(new URL(`${name}.yaml.br`, FOLDER))).toString()) as Document;

function operationsOf(api: string, document: Document): readonly Operation[] {
  // OpenAPI has keywords of its own, and formats of numbers.
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(document, api);
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId = "", responses }]): Operation => {
      const validators = new Map<number, ValidateFunction>();
      const statuses = Object.keys(isObject(responses) ? responses : {}).map(Number);
      for (const status of statuses) {
        const schema = schemaOf(document, responses, status);
        if (schema !== undefined) validators.set(status, ajv.compile({ $ref: `${api}#${schema}` }));
      }
      return {
        id: operationId,
        document: `${api} ${document.info.version}`,
        api,
        method: method === "get" ? "GET" : "POST",
        path,
        statuses,
        defects(status, body) {
          const validate = validators.get(status);
          if (validate === undefined || validate(body)) return [];
          return (validate.errors ?? []).map(
            ({ instancePath, message = "" }) => `${instancePath === "" ? "the body" : instancePath} ${message}`,
          );
        },
      };
    }),
  );
}

/** The JSON pointer of the schema of a response; undefined if it has none. */
function schemaOf(document: Document, responses: Json | undefined, status: number): string | undefined {
  const response = isObject(responses) ? responses[String(status)] : undefined;
  if (!isObject(response)) return undefined;
  const { $ref: reference } = response;
  const resolved = typeof reference === "string" ? at(document, reference.slice(1)) : response;
  const schema = at(resolved, "/content/application~1json/schema/$ref");
  return typeof schema === "string" ? schema.slice(1) : undefined;
}

/** The value at a JSON pointer. */
function at(value: unknown, pointer: string): unknown {
  let found = value;
  for (const step of pointer.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    found =
      typeof found === "object" && found !== null ? (found as Readonly<Record<string, unknown>>)[name] : undefined;
  }
  return found;
}
