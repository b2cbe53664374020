/** Files of the package beside its code. */
import { createRequire } from "node:module";
import type { JsonObject } from "../domain/json.js";

const require = createRequire(import.meta.url);

/** The OpenAPI document of the paths. */
export const openApi = require("#openapi.json") as JsonObject;

/** The version of the package. */
export function packageVersion(): string {
  return (require("#package.json") as { version: string }).version;
}
