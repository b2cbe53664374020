/** Writes the demo files from demo/registry.ts and demo/minimal.ts: one element a line. */
import { writeFileSync } from "node:fs";
import { elements as minimal } from "../demo/minimal.js";
import { elements as registry } from "../demo/registry.js";

for (const [name, elements] of Object.entries({ registry, minimal })) {
  writeFileSync(`demo/${name}.ndjson`, elements.map((element) => `${JSON.stringify(element)}\n`).join(""));
}
