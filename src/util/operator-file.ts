/** Files that operators write: YAML, checked by a zod schema. Every mistake is found at once, with its line and column. */
import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { buffer } from "node:stream/consumers";
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  parseDocument,
  visit,
} from "yaml";
import { z } from "zod";
import { errorMessage } from "./logger.js";

/** Keys and indexes from the root of a file to a value. */
export type Path = readonly PropertyKey[];

/** What is wrong with a value, such as "must be true or false, but is 7". */
export interface Mistake {
  readonly path: Path;
  readonly message: string;
}

export type Checked<T> =
  | { readonly value: T; readonly mistakes?: undefined }
  | { readonly value?: undefined; readonly mistakes: readonly Mistake[] };

type FileResult<T> =
  | { readonly value: T; readonly problems?: undefined }
  /** Each as `line:column: path: what is wrong`, in the order of the file. */
  | { readonly value?: undefined; readonly problems: readonly string[] };

/** The parser's time grows with the square of the keys of a map: with this many bytes it takes seconds. */
export const MAX_FILE_BYTES = 1_048_576;
/** The parser is recursive, and a stack overflow inside a regular expression ends the process. */
const MAX_DEPTH = 100;
/** An alias of aliases grows exponentially. */
const MAX_ALIASES = 1_000;
/** More are cut: they have one cause. */
const MAX_PROBLEMS = 100;

/** YAML 1.2 without tags and merges, whatever a %YAML directive says: values are those of JSON. */
const OPTIONS = {
  schema: "core",
  stringKeys: true,
  resolveKnownTags: false,
  merge: false,
  prettyErrors: false,
  logLevel: "error",
} as const;

const MESSAGES: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: "the file must have one document",
  NON_STRING_KEY: "keys must be text",
};

/** Reads and checks a file. Each problem begins with its path. */
export async function readOperatorFile<T>(path: string, read: (value: unknown) => Checked<T>): Promise<FileResult<T>> {
  let content: Buffer;
  try {
    // One byte more than is allowed, however large the file is: the path may be that of a device.
    content = await buffer(createReadStream(path, { end: MAX_FILE_BYTES }));
  } catch (error) {
    return { problems: [errorMessage(error)] };
  }
  return parseOperatorFile(content, read, `${path}:`);
}

/** Parses and checks one YAML document in UTF-8; an empty one is null. Each problem begins with `name`. */
export function parseOperatorFile<T>(
  content: Uint8Array | string,
  read: (value: unknown) => Checked<T>,
  name = "",
): FileResult<T> {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  if (bytes.length > MAX_FILE_BYTES)
    return { problems: [`${name}1:1: the file must have at most ${MAX_FILE_BYTES} bytes`] };
  const text = new TextDecoder().decode(bytes);
  const tooDeep = findTooDeep(text);
  const lines = new LineCounter();
  const document = parseDocument(text.slice(0, tooDeep), { ...OPTIONS, lineCounter: lines });
  const place = (mistakes: readonly (readonly [offset: number, message: string])[]) => {
    const sorted = mistakes
      .toSorted(([a], [b]) => a - b)
      .map(([offset, message]) => {
        const { line, col } = lines.linePos(offset);
        return `${name}${Math.max(1, line)}:${Math.max(1, col)}: ${message}`;
      });
    const shown = [...new Set(sorted)];
    return { problems: shown.slice(0, MAX_PROBLEMS).concat(countRest(shown.length - MAX_PROBLEMS)) };
  };
  if (tooDeep !== undefined) return place([[tooDeep, `values must be nested at most ${MAX_DEPTH} levels deep`]]);
  if (!isUtf8(bytes)) return place([[text.indexOf("\uFFFD"), "the file must be UTF-8"]]);
  // A warning is about a tag or a directive that would be ignored.
  const errors = [...document.errors, ...document.warnings].map(
    ({ pos, code, message }) => [pos[0], MESSAGES[code] ?? message] as const,
  );
  visit(document, {
    Pair(_index, { key }) {
      // A schema would pass over the second; the first is a colon too many.
      if (isScalar(key) && (key.value === "" || key.value === "__proto__"))
        errors.push([startOf(key) ?? 0, `"${key.value}" must not be a key`]);
    },
  });
  if (errors.length > 0) return place(errors);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    // An alias without an anchor before it, or too many of them.
    return place([[0, errorMessage(error)]]);
  }
  const checked = read(value);
  if (checked.mistakes === undefined) return { value: checked.value };
  return place(checked.mistakes.map((mistake) => [offsetOf(document, mistake.path), formatMistake(mistake)]));
}

const countRest = (count: number): string[] => (count > 0 ? [`and ${count} more`] : []);

/** Where values are nested too deep. The parser of tokens is not recursive. */
function findTooDeep(text: string): number | undefined {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    // It parses as far as its tokens are read.
    Array.from(parser.next(lexeme));
    if (parser.stack.length > MAX_DEPTH) return parser.offset;
  }
  return undefined;
}

/** Where the key or element at a path is, or the nearest one around it that exists. */
function offsetOf(document: Document.Parsed, path: Path): number {
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

const startOf = (node: unknown): number | undefined => (node as Node | null | undefined)?.range?.[0];

/** Checks a value. `beyond` finds what the schema cannot say. */
export function check<T>(
  schema: z.ZodType<T>,
  value: unknown,
  beyond: (value: T) => readonly Mistake[] = () => [],
): Checked<T> {
  const { data, error } = schema.safeParse(value, { error: messageOf });
  if (error !== undefined) return { mistakes: error.issues.flatMap((issue) => mistakesOf(issue, [])) };
  const mistakes = beyond(data);
  return mistakes.length > 0 ? { mistakes } : { value: data };
}

/** The mistakes of an issue. Of a union they are those of the alternative that fits best, if there is one. */
function mistakesOf(issue: z.core.$ZodIssue, above: Path): Mistake[] {
  const path = [...above, ...issue.path];
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({ path: [...path, key], message: issue.message }));
  if (issue.code === "invalid_union") {
    const alternatives = issue.errors
      .filter((issues) => issues.every((one) => one.path.length > 0 || !/^invalid_(?:type|value)$/.test(one.code)))
      .toSorted((a, b) => a.length - b.length);
    const [best, next] = alternatives;
    if (best !== undefined && best.length !== next?.length) return best.flatMap((one) => mistakesOf(one, path));
  }
  return [{ path, message: issue.message }];
}

/** The message of an issue for which a schema has none of its own. */
function messageOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type": {
      const isUnquoted = issue.expected === "string" && ["number", "boolean"].includes(typeof issue.input);
      const message = mustBe(EXPECTED[issue.expected] ?? `a ${issue.expected}`).error(issue);
      return isUnquoted ? `${message}: write it in quotes` : message;
    }
    case "invalid_value":
      return mustBe(`${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`).error(issue);
    case "too_small":
      if (issue.origin === "string") return mustBe("a non-empty string").error(issue);
      return `must have at least ${issue.minimum} ${issue.minimum === 1 ? "element" : "elements"}`;
    case "unrecognized_keys": {
      const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
      return `is not a known field; known fields: ${known.join(", ")}`;
    }
    case "invalid_key":
      return issue.issues[0]?.message;
    default:
      return undefined;
  }
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: "a non-empty string",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  record: "a map",
};

/** The error of a schema: what a value must be, and what is there instead. */
export const mustBe = (expected: string) => ({
  error: ({ input }: z.core.$ZodRawIssue): string => `must be ${expected}, but ${found(input)}`,
});

/** A text of a form. */
export const textOf = (form: RegExp, expected: string) => z.string(mustBe(expected)).regex(form, mustBe(expected));

export function integer(min: number, max: number) {
  const error = mustBe(`an integer from ${min} to ${max}`);
  return z.int(error).min(min, error).max(max, error);
}

/** Adds what a refinement finds, at a path below its value. */
export const report = (context: z.core.$RefinementCtx, path: PropertyKey[], message: string): void =>
  context.addIssue({ code: "custom", path, message });

/** A refinement of a list: each element once. */
export function once(list: readonly string[], context: z.core.$RefinementCtx): void {
  for (const [index, text] of list.entries())
    if (list.indexOf(text) < index) report(context, [index], `must be given once, but ${quote(text)} is there twice`);
}

/** What was found in place of a value, as a predicate. */
function found(value: unknown): string {
  if (value === undefined) return "is missing";
  if (value === null) return "has no value";
  if (Array.isArray(value)) return value.length === 0 ? "is an empty list" : "is a list";
  if (typeof value === "object") return "is a map";
  if (typeof value === "string") return `is ${quote(value)}`;
  return typeof value === "number" || typeof value === "boolean" ? `is ${value}` : `is a ${typeof value}`;
}

const MAX_SHOWN = 80;
const PLAIN_NAME = /^[\w#/.:*<-]{1,200}$/;

/** Quotes a text of any length and content for messages, on one line. */
export function quote(text: string): string {
  // Half of a surrogate pair would not be text any more.
  return text.length > MAX_SHOWN ? `${JSON.stringify(text.slice(0, MAX_SHOWN).toWellFormed())}…` : JSON.stringify(text);
}

/** `changes[0].when: must be …`. Unusual names are quoted, so that a message stays one line. */
export function formatMistake({ path, message }: Mistake): string {
  const text = path.reduce<string>((before, part) => {
    if (typeof part === "number") return `${before}[${part}]`;
    const name = PLAIN_NAME.test(String(part)) ? String(part) : quote(String(part));
    return before === "" ? name : `${before}.${name}`;
  }, "");
  return text === "" ? message : `${text}: ${message}`;
}
