/** Output in which a page shortens values: "…" stands for the rest of a string. */
import type { JsonValue } from "@bufbuild/protobuf";
import { expect } from "vitest";

/** Replaces shortened strings, which end in "…", by matchers of their beginning. */
export function expandShortened(value: JsonValue): unknown {
  if (typeof value === "string" && value.endsWith("…")) return startsWith(value.slice(0, -1));
  if (Array.isArray(value)) return value.map(expandShortened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, expandShortened(inner)]));
}

const startsWith = (text: string): unknown => expect.stringMatching(new RegExp(`^${text.replaceAll(/[+/]/g, "\\$&")}`));

/** Shortens the lines of a text where the lines that a page shows are shortened, in the middle of ids. */
export function shortenLike(shown: string, text: string): string {
  const shownLines = shown.split("\n");
  return text
    .split("\n")
    .map((line, index) => {
      const shownLine = shownLines[index] ?? "";
      const parts = shownLine.split("…").map((part) => part.replaceAll(/[^\w\s]/g, String.raw`\$&`));
      return new RegExp(`^${parts.join("[0-9a-f]+")}$`).test(line) ? shownLine : line;
    })
    .join("\n");
}
