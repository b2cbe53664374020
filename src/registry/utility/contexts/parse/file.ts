/** The operator's contexts file. docs/contexts.md describes it. */
import { ObjectReader, type Problem } from "../../../../util/object-reader.js";
import type { EntryDefinition } from "../entry-definition.js";
import { readChange } from "./change.js";
import { requireVersion } from "./condition.js";
import { readEntries } from "./entry.js";
import type { KnownParts } from "./lines.js";
import type { ContextChange } from "../table.js";

export interface ContextsFile {
  readonly entries: readonly EntryDefinition[];
  readonly changes: readonly ContextChange[];
  /** Versions by package id. */
  readonly packages: ReadonlyMap<string, string>;
}

/** Reads the parsed content. `builtIn` has the entries and disclosures that lines may use besides those of the file. */
export function parseContextsFile(value: unknown, builtIn: KnownParts, problems: Problem[]): ContextsFile {
  const file = new ObjectReader(withoutEmptySections(value ?? {}), [], problems);
  const packages = file.has("packages") ? readPackages(file.object("packages")) : new Map<string, string>();
  const section = file.has("entries") ? file.object("entries") : undefined;
  const entries = section === undefined ? [] : readEntries(section, builtIn);
  // Also those with problems: a line that names one is right.
  const names = section?.names() ?? [];
  const known = {
    entries: new Set([...builtIn.entries, ...names]),
    disclosures: new Set([...builtIn.disclosures, ...names]),
  };
  const changes = file.objects("changes").map((reader) => readChange(reader, known));
  file.rejectUnknown();
  return { entries, changes, packages };
}

/** A section whose lines are all commented out has no value. */
function withoutEmptySections(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, section]) => section !== null));
}

function readPackages(reader: ObjectReader): ReadonlyMap<string, string> {
  return new Map(
    reader.names().flatMap((id) => {
      const version = requireVersion(reader, id);
      return version === undefined ? [] : [[id, version] as const];
    }),
  );
}
