import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** Reads a text file of the package by its name in the "imports" of package.json. Call it when a module is loaded. */
export const readPackageFile = (name: `#${string}`): string => readFileSync(require.resolve(name), "utf8");
