/** Files of the package outside `dist/src`, by their names in the "imports" of package.json. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

type Name = `#${string}`;

export const packageFile = (name: Name): string => require.resolve(name);

/** Reads a text file. Call it when a module is loaded. */
export const readPackageFile = (name: Name): string => readFileSync(packageFile(name), "utf8");

export const packageVersion = (): string => (require("#package.json") as { readonly version: string }).version;
