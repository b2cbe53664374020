/** The files of the console, which `npm run build` writes to dist/console. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, relative, sep } from "node:path";
import { ICON } from "../rest/docs/docs-icon.js";
import { staticContent, type StaticContent } from "../static/static-content.js";

/** By path below /console/. */
export type ConsoleFiles = ReadonlyMap<string, StaticContent>;

const require = createRequire(import.meta.url);

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
};

/** Reads all files into memory. Throws if the console is not built. */
export function readConsoleFiles(): ConsoleFiles {
  const folder = dirname(require.resolve("#console/index.html"));
  const files = new Map([["icon.svg", staticContent(Buffer.from(ICON), "image/svg+xml")]]);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = CONTENT_TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(relative(folder, path).split(sep).join("/"), staticContent(readFileSync(path), type));
  }
  return files;
}
