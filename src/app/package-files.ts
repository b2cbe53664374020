/** Files of the package outside `dist/src`. */
import { createRequire } from "node:module";
import type { JsonObject } from "../domain/json.js";

const require = createRequire(import.meta.url);

export const openApi = require("#openapi.json") as JsonObject;

/** The document of a service with a root registrar, which says so. */
export function openApiWithRoot(document: JsonObject, rootRegistrar: string): JsonObject {
  const info = document["info"] as { readonly description: string } & JsonObject;
  const sentence = `The token-standard operations of ${rootRegistrar} are also served at /registry/…, without a registrar in the path.`;
  return { ...document, info: { ...info, description: `${info.description} ${sentence}` } };
}

export function packageVersion(): string {
  return (require("#package.json") as { version: string }).version;
}
