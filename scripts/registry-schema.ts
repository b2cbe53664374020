/** Writes the JSON schemas of registry files and contexts files, by which an editor completes and checks them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { registryFile } from "../src/registry/engine/definition.js";
import { contextsForm } from "../src/registry/utility/definition.js";

const [, , folder = "gen"] = process.argv;
for (const [name, form] of Object.entries({ registry: registryFile, contexts: contextsForm() })) {
  const schema = { ...z.toJSONSchema(form, { io: "input" }), title: `offledger ${name}` };
  writeFileSync(join(folder, `${name}.schema.json`), `${JSON.stringify(schema, undefined, 2)}\n`);
}
