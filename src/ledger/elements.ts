/** The text of a snapshot file -> its elements, each with the line it begins on. Pure. */

/** An element's text; it may or may not be JSON. */
export interface ElementText {
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

/** The file as a whole is not of a form that is understood. */
export class FormError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.name = "FormError";
    this.line = line;
  }
}

/**
 * Splits a file that is one JSON array or has one JSON object a line. Elements
 * are found without parsing them, so that each can be told by its line when it
 * is broken. Throws FormError where the array itself is.
 */
export function* splitElements(file: string): Generator<ElementText> {
  const text = file.charCodeAt(0) === 0xfeff ? file.slice(1) : file;
  if (/^\s*\[/.test(text)) yield* splitArray(text);
  else yield* splitLines(text);
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

/** What matters when scanning: quotes, escapes, brackets, commas, line ends. */
const marks = /["\\[\]{},\n]/g;

function* splitArray(text: string): Generator<ElementText> {
  let line = 1;
  let depth = 0;
  let quoted = false;
  let start = 0;
  let startLine = 1;
  let expectsElement = false;
  marks.lastIndex = 0;
  for (let match = marks.exec(text); match !== null; match = marks.exec(text)) {
    const at = match.index;
    switch (match[0]) {
      case "\n":
        line++;
        break;
      case "\\":
        marks.lastIndex = at + 2;
        break;
      case '"':
        quoted = !quoted;
        break;
      case "[":
      case "{":
        if (!quoted && ++depth === 1) {
          start = at + 1;
          startLine = line;
        }
        break;
      case "]":
      case "}":
        if (quoted) break;
        if (--depth > 0) break;
        yield* element(text.slice(start, at), startLine, expectsElement);
        if (text.slice(at + 1).trim() !== "") throw new FormError(line, "there is text behind the end of the array");
        return;
      case ",":
        if (quoted || depth !== 1) break;
        yield* element(text.slice(start, at), startLine, true);
        expectsElement = true;
        start = at + 1;
        startLine = line;
        break;
    }
  }
  throw new FormError(startLine, "the array is not closed: an element that begins on this line does not end");
}

function* element(slice: string, startLine: number, expected: boolean): Generator<ElementText> {
  const text = slice.trim();
  const line = startLine + newlines(slice.slice(0, slice.length - slice.trimStart().length));
  if (text !== "") yield { line, text };
  else if (expected) throw new FormError(line, "an element is missing between two commas, or behind the last");
}

const newlines = (text: string): number => text.split("\n").length - 1;
