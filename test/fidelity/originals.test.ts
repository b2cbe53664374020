/** The recordings, and the published documents, have all of their originals, where these are at hand. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { documentNamed } from "../openapi/published.js";
import { read } from "./recordings.js";

const originals = new URL("../../../shared/", import.meta.url);
const namesIn = (folder: string): string[] =>
  readdirSync(new URL(folder, import.meta.url)).flatMap((name) => (name.endsWith(".br") ? basename(name, ".br") : []));
const original = (path: string): string => readFileSync(new URL(path, originals), "utf8");

/** What validators read: all but texts and servers. */
function withoutTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTexts);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(
    ([key, inner]) => key !== "servers" && !(["description", "summary"].includes(key) && typeof inner === "string"),
  );
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutTexts(inner)]));
}

describe.runIf(existsSync(originals))("as the original", () => {
  test.each(namesIn("./recordings/"))("%s", (name) => {
    expect(read(name)).toEqual(JSON.parse(original(`fidelity/${name}`)));
  });

  test.each([...namesIn("../openapi/published/"), ...namesIn("../../packages/conformance/apis/")])("%s", (name) => {
    expect(documentNamed(name)).toEqual(withoutTexts(parse(original(`reference/${name}`))));
  });
});
