/** A table that was read: its names are known, its defaults filled in. */
import type { z } from "zod";
import type { Template } from "../../domain/template.js";
import type { TableOperation } from "../operation-names.js";
import type { AnyValue } from "../sdk/registry.js";
import type { EntryPart, LineCondition } from "./choice-context.js";
import type { Condition, EntrySource, LINE_KINDS, Missing, TemplateDefinition, UtilityFile } from "./grammar.js";
import type { PartiesOf } from "./terms.js";

export type LineKind = Exclude<(typeof LINE_KINDS)[number], "include">;

/** A line as it is in force: its defaults are filled in. */
export interface TableLine {
  readonly kind: LineKind;
  /** Of the entry; "constant" for a constant. */
  readonly name: string;
  readonly keys: readonly string[];
  /** Whether the line says its keys itself. */
  readonly hasOwnKeys: boolean;
  readonly missing: Missing;
  readonly if: readonly Condition[];
  readonly unless: readonly Condition[];
  readonly of?: readonly string[] | undefined;
  readonly disclose?: boolean | undefined;
  readonly constant?: AnyValue | undefined;
}

/** What the context of an operation has. */
export interface Row {
  readonly lines: readonly TableLine[];
  /** What an absent contract means for lines that do not say it. */
  readonly missing: Missing;
}

/** A function that an entry may name. */
export interface EntryFunction {
  readonly arguments: z.ZodType;
  /** `given` was checked. */
  make(given: unknown): EntryPart;
}

/** What a table may name besides what it defines. */
export interface Vocabulary {
  readonly operations: readonly TableOperation[];
  readonly facts: Readonly<Record<string, LineCondition>>;
  readonly partiesOf: PartiesOf;
  readonly functions: Readonly<Record<string, EntryFunction>>;
  /** Entries of a module. */
  readonly parts: ReadonlyMap<string, EntryPart>;
  /** Templates in TypeScript, by their names in the table or another text: entries of files are for others. */
  readonly templates: ReadonlyMap<string, Template>;
}

/** A registry file that was read, with what extends it. */
export interface Table {
  readonly file: Omit<UtilityFile, "templates" | "entries" | "operations" | "packages">;
  /** With their packages and full names. */
  readonly templates: Readonly<Record<string, TemplateDefinition>>;
  /** Those that are found by their templates. */
  readonly entries: Readonly<Record<string, EntrySource>>;
  /** The others. */
  readonly parts: ReadonlyMap<string, EntryPart>;
  readonly rows: Readonly<Partial<Record<TableOperation, Row>>>;
  readonly packages: Readonly<Record<string, string>>;
  readonly vocabulary: Vocabulary;
}
