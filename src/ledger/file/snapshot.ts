/** Parses the content of a snapshot file into contracts, or into a list of its problems. Pure. */
import type { Contract, CountedOnly } from "../../domain/contract.js";
import type { JsonValue } from "../../domain/json.js";
import { errorMessage } from "../../util/logger.js";
import { type DecodedContract, type Decoder, lastOffset, laterState } from "../decode.js";

export interface Problem {
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

export interface Snapshot {
  readonly contracts: readonly (Contract | CountedOnly)[];
  /** The highest offset in the file; 0 if it has none. */
  readonly offset: number;
  readonly ignored: number;
  /** Empty if the file is valid. Holds the first MAX_PROBLEMS. */
  readonly problems: readonly Problem[];
}

export const MAX_PROBLEMS = 20;

export function parseSnapshot(file: string, decoder: Decoder): Snapshot {
  const entries = new Map<string, { readonly entry: DecodedContract; readonly line: number }>();
  const problems: Problem[] = [];
  let ignored = 0;
  let offset = 0;
  try {
    for (const element of splitElements(file)) {
      if (problems.length >= MAX_PROBLEMS) break;
      try {
        const value = parseElement(element);
        const entry = decoder.decode(value);
        offset = Math.max(offset, lastOffset(value));
        if (entry === undefined) {
          ignored++;
          continue;
        }
        const id = entry.contract.contractId;
        const earlier = entries.get(id);
        const latest = earlier === undefined ? entry : laterState(earlier.entry, entry);
        if (latest === undefined) throw new Error(`contract ${id} is already on line ${earlier?.line}`);
        if (latest === entry) entries.set(id, { entry, line: element.line });
      } catch (error) {
        problems.push({ line: element.line, reason: errorMessage(error) });
      }
    }
  } catch (error) {
    if (!(error instanceof FormError)) throw error;
    if (problems.length < MAX_PROBLEMS) problems.push({ line: error.line, reason: error.message });
  }
  return { contracts: [...entries.values()].map(({ entry }) => entry.contract), offset, ignored, problems };
}

/** One line of text per problem, as `path:line: reason`. */
export function formatProblems(path: string, problems: readonly Problem[]): string {
  return problems.map(({ line, reason }) => `${path}:${line}: ${reason}`).join("\n");
}

function parseElement({ text }: ElementText): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new Error(`not JSON: ${errorMessage(error)}`, { cause: error });
  }
}

interface ElementText {
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** The file is empty, as it is while being written, or its JSON array is broken. */
export class FormError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.name = "FormError";
    this.line = line;
  }
}

/** Splits a JSON array or lines of JSON without parsing, to report a broken element with its line. Throws FormError. */
export function* splitElements(file: string): Generator<ElementText> {
  // \s includes the byte order mark.
  if (/^\s*$/.test(file)) throw new FormError(1, "the file is empty; write [] for a file without contracts");
  if (/^\s*\[/.test(file)) yield* splitArray(file);
  else yield* splitLines(file);
}

function* splitLines(text: string): Generator<ElementText> {
  let line = 1;
  for (let start = 0; start < text.length; line++) {
    const end = text.indexOf("\n", start);
    const stop = end === -1 ? text.length : end;
    const content = text.slice(start, stop).trim();
    if (content !== "") yield { line, text: content };
    start = stop + 1;
  }
}

function* splitArray(text: string): Generator<ElementText> {
  const lines = new LineCounter(text);
  let depth = 0;
  let quoted = false;
  let start = 0;
  let elements = 0;
  // Not shared between scans: lastIndex is state.
  const marks = /["\\[\]{},]/g;
  for (let match = marks.exec(text); match !== null; match = marks.exec(text)) {
    const at = match.index;
    const [mark] = match;
    if (mark === "\\") marks.lastIndex = at + 2;
    else if (mark === '"') quoted = !quoted;
    else if (!quoted && (mark === "[" || mark === "{")) {
      if (++depth === 1) start = at + 1;
    } else if (!quoted && (mark === "]" || mark === "}") && --depth === 0) {
      const last = text.slice(start, at);
      if (last.trim() !== "" || elements > 0) yield elementAt(lines, last, start);
      if (text.slice(at + 1).trim() !== "") {
        throw new FormError(lines.at(at), "there is text after the end of the array");
      }
      if (mark === "}") throw new FormError(lines.at(at), "the array is closed by }");
      return;
    } else if (!quoted && mark === "," && depth === 1) {
      yield elementAt(lines, text.slice(start, at), start);
      elements++;
      start = at + 1;
    }
  }
  const rest = text.slice(start);
  const line = lines.at(start + rest.length - rest.trimStart().length);
  throw new FormError(line, "the array is not closed: the element that begins on this line does not end");
}

function elementAt(lines: LineCounter, slice: string, start: number): ElementText {
  const text = slice.trim();
  const line = lines.at(start + slice.length - slice.trimStart().length);
  if (text === "") throw new FormError(line, "an element is missing before or after a comma");
  return { line, text };
}

/** Maps character positions to lines. Positions must ascend. */
class LineCounter {
  readonly #text: string;
  #at = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text;
  }

  /** The line of a character, from 1. */
  at(index: number): number {
    for (;;) {
      const end = this.#text.indexOf("\n", this.#at);
      if (end === -1 || end >= index) return this.#line;
      this.#line++;
      this.#at = end + 1;
    }
  }
}
