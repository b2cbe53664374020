/** The OpenAPI document of the service, and those that are published: published/README.md says where they come from. */
import { existsSync, readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { type Document, OpenApi } from "../fixtures/openapi.js";

export const ownDocument = JSON.parse(readFileSync("gen/openapi.json", "utf8")) as Document;
export const own = new OpenApi(ownDocument);
/** Streams have no response that could be compared: test/transport/watch has theirs. */
const isStream = (route: string): boolean => "text/event-stream" in (own.response(route, 200)?.content ?? {});
export const operations = [...own.operations].filter(([route]) => !isStream(route));

/** Those of the token standard, which the checker of registries has, and others. */
const FOLDERS = ["../../packages/conformance/apis/", "./published/"];

/** A published document, by the name of its original. */
export function documentNamed(name: string): Document {
  const files = FOLDERS.map((folder) => new URL(`${folder}${name}.br`, import.meta.url));
  const file = files.find((one) => existsSync(one));
  if (file === undefined) throw new Error(`there is no document ${name}`);
  return JSON.parse(brotliDecompressSync(readFileSync(file)).toString()) as Document;
}

const BASE = "/api/token-standard/v0/registrars/{registrarParty}";
const ofStandard = ["token-metadata", "transfer-instruction", "allocation", "allocation-instruction"];
export const published: readonly OpenApi[] = [
  ...ofStandard.map((name) => new OpenApi(documentNamed(`${name}-v1.yaml`), BASE)),
  new OpenApi(documentNamed("utilities.yaml")),
];

export const routes = published.flatMap((api) =>
  [...api.operations].map(([route, operation]) => ({ route, operation, api })),
);

/**
 * Fields of an instrument that the published document, of version 1.0.0, lacks: the description is an addition of this
 * service, the others come from version 1.2.0.
 */
export const additions = ["description", "paused", "pauseInfo", "showAccountInputFields", "accountInputFieldsToShow"];

/** The published response is bytes. Ours is the document as JSON. */
export const asBytes = "GET /api/utilities/v0/openapi";
