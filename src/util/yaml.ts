import { isNode, LineCounter, parseDocument } from "yaml";

/** A parsed YAML text, with the lines of its values. */
export interface ParsedYaml {
  /** Null for an empty text. Undefined if the text has syntax errors. */
  readonly value: unknown;
  /** Syntax errors and duplicate keys, each with its line. */
  readonly errors: readonly { readonly line: number; readonly message: string }[];
  /** The line of the value at a path of keys and indexes, or of the nearest value around it that exists. */
  lineOf(path: readonly (string | number)[]): number;
}

/** How often the values of anchors may be repeated in total: an alias of aliases grows exponentially. */
const MAX_ALIASES = 100;

/** Parses one YAML document. Never throws. */
export function parseYaml(text: string): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line);
  const errors = document.errors.map(({ pos, message }) => ({ line: lineAt(pos[0]), message }));
  const lineOf = (path: readonly (string | number)[]): number => {
    for (let length = path.length; length > 0; length--) {
      const node = document.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return lineAt(node.range[0]);
    }
    return lineAt(document.contents?.range?.[0] ?? 0);
  };
  if (errors.length > 0) return { value: undefined, errors, lineOf };
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown, errors, lineOf };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { value: undefined, errors: [{ line: 1, message }], lineOf };
  }
}
