/** Writes docs/licenses.md: the packages that run with the program, with version and licence. */
import { readFileSync, writeFileSync } from "node:fs";

interface Locked {
  readonly dev?: boolean;
  /** A workspace of this repository, linked into node_modules. */
  readonly link?: boolean;
  readonly version: string;
}

interface Installed {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

const read = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

const { packages } = read("package-lock.json") as { packages: Record<string, Locked> };
const rows = new Set<string>();
for (const [path, { dev, link, version }] of Object.entries(packages)) {
  if (!path.startsWith("node_modules/") || link === true || dev === true) continue;
  const installed = read(`${path}/package.json`) as Installed;
  if (installed.version !== version) {
    throw new Error(`${path} has version ${installed.version}, package-lock.json has ${version}; run npm ci`);
  }
  if (typeof installed.license !== "string") throw new Error(`${path}/package.json has no licence`);
  rows.add(`| ${installed.name} | ${version} | ${installed.license.replaceAll(/^\(|\)$/g, "")} |`);
}

writeFileSync(
  "docs/licenses.md",
  [
    "# Licences",
    "",
    "The packages that run with the program. `npm run licenses` writes this page.",
    "",
    "| package | version | licence |",
    "|---|---|---|",
    ...[...rows].toSorted(),
    "",
  ].join("\n"),
);
