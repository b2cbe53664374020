/** Files of the package outside `dist/src`. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { JsonObject } from "../domain/json.js";

const require = createRequire(import.meta.url);

export const openApi = require("#openapi.json") as JsonObject;

export function packageVersion(): string {
  return (require("#package.json") as { version: string }).version;
}

/** The definitions of all services, with their comments. Read when called: the start does not need them. */
export const readDescriptorSet = (): Uint8Array => readFileSync(require.resolve("#offledger.binpb"));
