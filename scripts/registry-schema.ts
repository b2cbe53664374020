/** Writes the JSON schemas of registry files and contexts files, by which an editor completes them, and docs/tables.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { extensionForm, registryExtensionForm, registryFile } from "../src/registry/engine/grammar.js";
import { withTables } from "./tables-reference.js";

const [, , folder = "gen"] = process.argv;
const forms = {
  registry: z.union([registryFile, registryExtensionForm.required({ extends: true })]),
  contexts: extensionForm.omit({ extends: true }),
};
for (const [name, form] of Object.entries(forms)) {
  const schema = { ...z.toJSONSchema(form, { io: "input", reused: "ref" }), title: `offledger ${name}` };
  writeFileSync(join(folder, `${name}.schema.json`), `${JSON.stringify(schema, undefined, 2)}\n`);
}
if (folder === "gen") writeFileSync("docs/tables.md", withTables(readFileSync("docs/tables.md", "utf8")));
