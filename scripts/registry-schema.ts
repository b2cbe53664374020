/** Writes the JSON schema of registry files, by which an editor completes and checks them. `registry-schema.ts [PATH]` */
import { writeFileSync } from "node:fs";
import { z } from "zod";
import { registryFile } from "../src/registry/engine/definition.js";

const schema = z.toJSONSchema(registryFile, { io: "input" });
writeFileSync(
  "gen/registry.schema.json",
  `${JSON.stringify({ ...schema, title: "offledger registry" }, undefined, 2)}\n`,
);
