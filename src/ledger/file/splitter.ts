/** Splits the text of a snapshot file into its elements, without parsing them, to report a broken one with its line. */

/** The text of a file in pieces of any size. */
export type Chunks = AsyncIterable<string> | Iterable<string>;

export interface ElementText {
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** The file cannot be split: it is empty, as it is while being written, or of another format, or an array is broken. */
export class FormError extends Error {
  override readonly name = "FormError";

  constructor(
    readonly line: number,
    message: string,
  ) {
    super(message);
  }
}

/** In characters. Longer than any contract that a participant has. */
const MAX_LENGTH = 64 * 1024 * 1024;
/** Of objects and arrays. Daml values have 100 levels; their JSON has a few times as many. */
const MAX_DEPTH = 1_000;

/**
 * The elements of a text: JSON values, one after the other. Those in an array are elements themselves, and those in the list
 * of a page, `{"activeContracts": […]}`, after which comes the page with an empty list. Throws FormError.
 */
export async function* splitElements(chunks: Chunks): AsyncGenerator<ElementText> {
  const splitter = new Splitter();
  let beginning = "";
  for await (const chunk of chunks) {
    if (beginning.length < 2) checkFormat((beginning += chunk.slice(0, 2)));
    yield* splitter.push(chunk);
  }
  yield* splitter.end();
}

/** Bytes that are not UTF-8 have been decoded to the replacement character. */
function checkFormat(beginning: string): void {
  if (beginning.startsWith("\u001F\uFFFD")) throw new FormError(1, "the file is compressed by gzip: decompress it");
  // A byte order mark, or a character of ASCII.
  if (beginning.startsWith("\uFFFD\uFFFD") || beginning.slice(0, 2).includes("\0"))
    throw new FormError(1, "the file is UTF-16, as Windows PowerShell writes it: convert it to UTF-8");
}

/** An array of elements that is open. */
interface OpenList {
  /** The page whose list it is. */
  readonly page: Item | undefined;
  /** What stands before the current position. */
  before: "bracket" | "value" | "comma";
}

const PAGE_KEY = '"activeContracts"';

/** A value that is being read. Its text is joined once, so that the time is linear in its length. */
class Item {
  /** Of the objects and arrays that are open in it. */
  depth = 0;
  isQuoted = false;
  /** Whether the last text at depth 1 is the key of a page's list. */
  isPageKey = false;
  readonly #parts: string[] = [];
  #length = 0;

  constructor(/** Of its first character. */ readonly line: number) {}

  keep(part: string): void {
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#length > MAX_LENGTH)
      throw new FormError(
        this.line,
        `the element that begins on this line is longer than ${MAX_LENGTH.toLocaleString("en")} characters`,
      );
  }

  text(): string {
    return this.#parts.join("").trim();
  }

  /** Its text with what is not kept yet, from where so many characters remain after white space. */
  tail(rest: string, length: number): string {
    let tail = rest;
    for (let index = this.#parts.length - 1; index >= 0 && tail.trimStart().length < length; index--)
      tail = (this.#parts[index] ?? "") + tail;
    return tail;
  }

  /** Whether a value after what is not kept yet is the first on its line, and none can be there in JSON. */
  isBrokenAfter(rest: string): boolean {
    const text = this.tail(rest, 1);
    const { length } = text.trimEnd();
    return text.includes("\n", length) && !"[,:".includes(text.charAt(length - 1));
  }
}

/** `push` yields the elements that a chunk completes, `end` what is left. Both throw FormError. */
class Splitter {
  #line = 1;
  #isEmpty = true;
  /** The arrays that are open, the innermost last. */
  readonly #lists: OpenList[] = [];
  /** Of these arrays and their pages. */
  #levels = 0;
  #item: Item | undefined;
  #chunk = "";
  /** The position in the chunk; beyond its end after a backslash. */
  #at = 0;
  /** Where the text of the item begins in the chunk. */
  #start = 0;

  *push(chunk: string): Generator<ElementText> {
    const isEscaped = this.#at > this.#chunk.length;
    this.#at = isEscaped && chunk[0] !== "\n" ? 1 : 0;
    this.#chunk = chunk;
    this.#start = 0;
    while (this.#at < chunk.length) {
      if (this.#item === undefined) this.#readBetween();
      else {
        const element = this.#item.isQuoted ? this.#readText(this.#item) : this.#readValue(this.#item);
        if (element !== undefined) yield element;
      }
    }
    this.#item?.keep(chunk.slice(this.#start));
  }

  *end(): Generator<ElementText> {
    if (this.#isEmpty) throw new FormError(1, "the file is empty; write [] for a file without contracts");
    if (this.#lists.length > 0)
      throw new FormError(
        this.#item?.line ?? this.#line,
        "the array is not closed: the element that begins on this line does not end",
      );
    if (this.#item !== undefined) yield { line: this.#item.line, text: this.#item.text() };
  }

  /** Reads up to the next value. */
  #readBetween(): void {
    const at = this.#find(BETWEEN);
    if (at === undefined) return;
    this.#at = at + 1;
    const mark = this.#chunk[at];
    const list = this.#lists.at(-1);
    if (mark === "\n") this.#line++;
    else if (list !== undefined && mark === "]") this.#closeList(list);
    else if (list !== undefined && mark === ",") {
      if (list.before !== "value") throw this.#missing();
      list.before = "comma";
    } else this.#begin(list, at);
  }

  #begin(list: OpenList | undefined, at: number): void {
    const mark = this.#chunk[at];
    this.#isEmpty = false;
    if (list !== undefined && mark === "}") throw new FormError(this.#line, "the array is closed by }");
    if (list?.before === "value") throw new FormError(this.#line, "a comma is missing after an array");
    if (list !== undefined) list.before = "value";
    if (mark === "[") this.#openList(undefined);
    else {
      this.#item = new Item(this.#line);
      this.#at = this.#start = at;
    }
  }

  #openList(page: Item | undefined): void {
    this.#item = undefined;
    this.#lists.push({ page, before: "bracket" });
    this.#levels += levelsOf(page);
    this.#checkDepth(0, this.#line);
  }

  #closeList({ page, before }: OpenList): void {
    if (before === "comma") throw this.#missing();
    this.#lists.pop();
    this.#levels -= levelsOf(page);
    this.#item = page;
    this.#start = this.#at - 1;
  }

  /** Reads a value up to its next mark outside of texts. Returns it if it ends there. */
  #readValue(item: Item): ElementText | undefined {
    const at = this.#find(OUTSIDE_TEXT);
    if (at === undefined) return undefined;
    const mark = this.#chunk[at];
    const isInList = this.#lists.length > 0;
    this.#at = at + 1;
    if (mark === '"') item.isQuoted = true;
    else if (mark === "\n") {
      this.#line++;
      if (item.depth === 0 && !isInList) return this.#endItem(item, at);
    } else if (mark === ",") {
      if (item.depth === 0 && isInList) return this.#endItem(item, (this.#at = at));
    } else if (mark === "[" || mark === "{") {
      if (!isInList && item.depth > 0 && item.isBrokenAfter(this.#chunk.slice(this.#start, at)))
        return this.#endItem(item, (this.#at = at));
      this.#checkDepth(++item.depth, item.line);
      if (mark === "[" && item.depth === 2 && item.isPageKey) {
        item.depth--;
        item.isPageKey = false;
        item.keep(this.#chunk.slice(this.#start, this.#at));
        this.#openList(item);
      }
    } else if (item.depth === 0 && isInList) return this.#endItem(item, (this.#at = at));
    else if (--item.depth <= 0 && !isInList) return this.#endItem(item, this.#at);
    return undefined;
  }

  /** Reads the text in a value up to its next mark. Returns the value if it is broken: no text of JSON has several lines. */
  #readText(item: Item): ElementText | undefined {
    const at = this.#find(INSIDE_TEXT);
    if (at === undefined) return undefined;
    const mark = this.#chunk[at];
    this.#at = at + 1;
    if (mark === "\\") this.#at += this.#chunk[this.#at] === "\n" ? 0 : 1;
    else if (mark === "\n") {
      this.#line++;
      if (this.#lists.length === 0) return this.#endItem(item, at);
    } else {
      item.isQuoted = false;
      if (item.depth === 1) {
        const tail = item.tail(this.#chunk.slice(this.#start, this.#at), PAGE_KEY.length + 1);
        item.isPageKey = tail.endsWith(PAGE_KEY) && !tail.endsWith(`\\${PAGE_KEY}`);
      }
    }
    return undefined;
  }

  #endItem(item: Item, end: number): ElementText {
    item.keep(this.#chunk.slice(this.#start, end));
    this.#item = undefined;
    return { line: item.line, text: item.text() };
  }

  /** The position of the next mark; undefined, with the position at the end of the chunk, if there is none. */
  #find(marks: RegExp): number | undefined {
    marks.lastIndex = this.#at;
    // Without the objects of exec, for the millions of marks of a large file.
    if (marks.test(this.#chunk)) return marks.lastIndex - 1;
    this.#at = this.#chunk.length;
    return undefined;
  }

  #checkDepth(depth: number, line: number): void {
    if (this.#levels + depth > MAX_DEPTH)
      throw new FormError(line, `the element that begins on this line has more than ${MAX_DEPTH} levels`);
  }

  #missing(): FormError {
    return new FormError(this.#line, "an element is missing before or after a comma");
  }
}

const levelsOf = (page: Item | undefined): number => (page === undefined ? 1 : 2);

// Their lastIndex is set before each use. \s includes the byte order mark.
const BETWEEN = /\S|\n/g;
const OUTSIDE_TEXT = /["[\]{},\n]/g;
const INSIDE_TEXT = /["\\\n]/g;
