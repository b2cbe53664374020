/** Writes the JSON schema of registry files, by which an editor completes and checks them. `registry-schema.ts [PATH]` */
import { writeFileSync } from "node:fs";
import { z } from "zod";
import { registryFile } from "../src/registry/engine/definition.js";

const schema = z.toJSONSchema(registryFile, { io: "input" });
const [, , path = "gen/registry.schema.json"] = process.argv;
writeFileSync(path, `${JSON.stringify({ ...schema, title: "offledger registry" }, undefined, 2)}\n`);
