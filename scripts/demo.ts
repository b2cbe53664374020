/** Writes demo/registry.ndjson from demo/registry.ts: one element a line. */
import { writeFileSync } from "node:fs";
import { elements } from "../demo/registry.js";

writeFileSync("demo/registry.ndjson", elements.map((element) => `${JSON.stringify(element)}\n`).join(""));
