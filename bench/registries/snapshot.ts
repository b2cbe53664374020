/** Writes elements to a snapshot file. */
import { createWriteStream, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Element } from "./element.js";

export async function writeSnapshot(elements: Iterable<Element>) {
  const folder = await mkdtemp(join(tmpdir(), "offledger-bench-"));
  const path = join(folder, "snapshot.ndjson");
  await pipeline(Readable.from(serializeLines(elements)), createWriteStream(path));
  return {
    path,
    settings: { OFFLEDGER_SNAPSHOT: path },
    stop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

function* serializeLines(elements: Iterable<Element>): Generator<string> {
  for (const element of elements) yield `${JSON.stringify(element)}\n`;
}
