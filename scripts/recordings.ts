/**
 * Makes what tests compare the service with from the originals: `npx tsx scripts/recordings.ts FOLDER`, which has them below
 * `fidelity` and `reference`. test/fidelity/originals.test.ts compares them.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { parse } from "yaml";

const [originals] = process.argv.slice(2);
if (originals === undefined) throw new Error("which folder has the originals? npx tsx scripts/recordings.ts FOLDER");

/** Rewrites each file of the folder. */
function compress(folder: string, contentOf: (name: string) => unknown): void {
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".br"))) {
    const text = JSON.stringify(contentOf(basename(file, ".br")));
    const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
    writeFileSync(join(folder, file), brotliCompressSync(text, { params }));
  }
}

compress("test/fidelity/recordings", (name) => JSON.parse(readFileSync(join(originals, "fidelity", name), "utf8")));

/** Tests compare names and types alone: the prose stays with its authors. */
const withoutProse = (key: string, value: unknown): unknown =>
  key === "servers" || (/^(description|summary)$/.test(key) && typeof value === "string") ? undefined : value;
for (const folder of ["test/openapi/published", "packages/conformance/apis"])
  compress(folder, (name) => {
    const document: unknown = parse(readFileSync(join(originals, "reference", name), "utf8"));
    return JSON.parse(JSON.stringify(document, withoutProse));
  });
