/** Files of the package outside `dist/src`. */
import { createRequire } from "node:module";
import type { JsonObject } from "../domain/json.js";

const require = createRequire(import.meta.url);

export const openApi = require("#openapi.json") as JsonObject;

export function packageVersion(): string {
  return (require("#package.json") as { version: string }).version;
}
