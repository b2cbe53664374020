import { isUtf8 } from "node:buffer";
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  parseDocument,
  visit,
} from "yaml";

/** A parsed YAML text, with the lines of its values. */
export interface ParsedYaml {
  /** Null for an empty text. Undefined if there are errors. */
  readonly value: unknown;
  /** Why the text cannot be used, by ascending line. */
  readonly errors: readonly YamlError[];
  /** Where the key or element at a path of keys and indexes is, or the nearest one around it that exists. */
  readonly positionOf: (path: readonly (string | number)[]) => Position;
}

/** From 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface YamlError extends Position {
  /** A sentence or clause without the line. */
  readonly message: string;
}

/** A file of settings is far smaller; the parser takes half a second for this. */
export const MAX_YAML_BYTES = 262_144;
/** The parser is recursive, and a stack overflow inside a regular expression ends the process. */
export const MAX_DEPTH = 100;
/** An alias of aliases grows exponentially. */
const MAX_ALIASES = 100;

/** YAML 1.2 without tags and merges, whatever a %YAML directive says: values are those of JSON. */
const OPTIONS = {
  schema: "core",
  resolveKnownTags: false,
  merge: false,
  prettyErrors: false,
  logLevel: "error",
} as const;

/** Parses one YAML document, in UTF-8. Its keys must be text. Never throws, whatever the content is. */
export function parseYaml(content: Uint8Array | string): ParsedYaml {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  if (bytes.length > MAX_YAML_BYTES) return unparsed(START, `the file must have at most ${MAX_YAML_BYTES} bytes`);
  if (!isUtf8(bytes)) return unparsed({ line: firstBadLine(bytes), column: 1 }, "the file must be UTF-8");
  const text = new TextDecoder().decode(bytes);
  const deep = findDeepNesting(text);
  const lines = new LineCounter();
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  if (deep !== undefined) {
    lines.addNewLine(0);
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) lines.addNewLine(end + 1);
    return unparsed(at(deep), `values must be nested at most ${MAX_DEPTH} levels deep`);
  }
  return convert(parseDocument(text, { ...OPTIONS, lineCounter: lines }), at);
}

function firstBadLine(bytes: Uint8Array): number {
  // No byte of a longer character is a newline, so each line can be judged alone.
  for (let line = 1, start = 0; ; line++) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}

const NEWLINE = 10;
const START: Position = { line: 1, column: 1 };

const unparsed = (position: Position, message: string): ParsedYaml => ({
  value: undefined,
  errors: [{ ...position, message }],
  positionOf: () => position,
});

function convert(document: Document.Parsed, at: (offset: number) => Position): ParsedYaml {
  const positionOf = (path: readonly (string | number)[]) => at(offsetOf(document, path));
  // A warning is about a tag or a directive that would be ignored.
  const found = [...document.errors, ...document.warnings].map(({ pos, code, message }) => ({
    offset: pos[0],
    message: code === "MULTIPLE_DOCS" ? "the file must have one document" : message,
  }));
  const errors = [...found, ...findUnusable(document)]
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ offset, message }): YamlError => {
      const { line, column } = at(offset);
      return { line, column, message };
    });
  if (errors.length > 0) return { value: undefined, errors, positionOf };
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown, errors, positionOf };
  } catch {
    const message = `aliases must repeat values at most ${MAX_ALIASES} times in total`;
    return { value: undefined, errors: [{ ...positionOf([]), message }], positionOf };
  }
}

/** The offset of the first value that is nested too deeply for `parseDocument`. This parser is not recursive. */
export function findDeepNesting(text: string): number | undefined {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    // It parses as far as its tokens are read.
    Array.from(parser.next(lexeme));
    if (parser.stack.length > MAX_DEPTH) return parser.offset;
  }
  return undefined;
}

interface Unusable {
  readonly offset: number;
  readonly message: string;
}

/** Keys that are not text, of which two could be one (7 and "7"), and aliases that cannot be resolved. */
function findUnusable(document: Document.Parsed): Unusable[] {
  const found: Unusable[] = [];
  const aliases: Alias[] = [];
  visit(document, {
    Pair(_index, { key }) {
      if (isScalar(key) && typeof key.value === "string") return;
      const hint = isScalar(key) && key.source ? `: write "${key.source.slice(0, 80)}" in quotes` : "";
      found.push({ offset: startOf(key) ?? 0, message: `keys must be text${hint}` });
    },
    Alias(_key, alias) {
      aliases.push(alias);
    },
  });
  const tooMany = aliases[MAX_ALIASES];
  // To resolve an alias takes a pass over the document.
  if (tooMany !== undefined)
    found.push({ offset: startOf(tooMany) ?? 0, message: `the file must have at most ${MAX_ALIASES} aliases` });
  else
    for (const alias of aliases)
      if (alias.resolve(document) === undefined)
        found.push({ offset: startOf(alias) ?? 0, message: `*${alias.source} must come after its anchor` });
  return found;
}

function offsetOf(document: Document.Parsed, path: readonly (string | number)[]): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === part);
      if (pair === undefined) break;
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof part === "number") {
      node = node.items[part];
      offset = startOf(node) ?? offset;
    } else break;
  }
  return offset;
}

const startOf = (node: unknown): number | undefined =>
  (node as { readonly range?: readonly number[] | null } | null | undefined)?.range?.[0];
