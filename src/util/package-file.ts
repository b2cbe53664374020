import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** The path of a file of the package by its name in the "imports" of package.json. */
export const packageFile = (name: `#${string}`): string => require.resolve(name);

/** Reads a text file of the package. Call it when a module is loaded. */
export const readPackageFile = (name: `#${string}`): string => readFileSync(packageFile(name), "utf8");
