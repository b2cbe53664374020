/** Reads a snapshot file: its elements, one after the other, and which of them are the contracts of the snapshot. */
import { hash as digest } from "node:crypto";
import type { StoredContract, CountedOnly } from "../../domain/contract.js";
import type { JsonValue } from "../../domain/json.js";
import { errorMessage } from "../../util/logger.js";
import { type Decoder, lastOffset } from "../decode.js";

export interface Problem {
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

export interface Snapshot {
  readonly contracts: readonly (StoredContract | CountedOnly)[];
  /** The highest offset in the file; 0 if it has none. */
  readonly offset: number;
  readonly ignored: number;
  /** Empty if the file is valid. Holds the first MAX_PROBLEMS. */
  readonly problems: readonly Problem[];
}

export const MAX_PROBLEMS = 20;

/** The text of a file in pieces of any size. */
export type Chunks = AsyncIterable<string> | Iterable<string>;

/** Reads a file in one pass; its contracts are in memory. */
export async function parseSnapshot(chunks: Chunks, decoder: Decoder): Promise<Snapshot> {
  const contracts = new Map<string, StoredContract | CountedOnly>();
  const { offset, ignored, problems } = await readIndex(chunks, decoder, (contract) => {
    contracts.set(contract.contractId, contract);
  });
  return { contracts: [...contracts.values()], offset, ignored, problems };
}

/**
 * Reads a file in two passes, so that no more than its index is in memory: the first finds problems, and on which line the
 * latest state of each contract is; the second, `contracts`, yields these. `open` begins the file anew.
 */
export async function indexSnapshot(open: () => Chunks, decoder: Decoder) {
  const index = await readIndex(open(), decoder);
  return { index, contracts: () => latestContracts(open(), index, decoder) };
}

/** Finds what a file has, until it has too many problems. `onContract` gets each contract that replaces earlier ones. */
async function readIndex(
  chunks: Chunks,
  decoder: Decoder,
  onContract?: (contract: StoredContract | CountedOnly) => void,
): Promise<SnapshotIndex> {
  const index = new SnapshotIndex(decoder);
  try {
    for await (const element of splitElements(chunks)) {
      const contract = index.add(element);
      if (contract !== undefined) onContract?.(contract);
      if (index.isFull) break;
    }
  } catch (error) {
    if (!(error instanceof FormError)) throw error;
    index.problems.push({ line: error.line, reason: error.message });
  }
  return index;
}

async function* latestContracts(
  chunks: Chunks,
  index: SnapshotIndex,
  decoder: Decoder,
): AsyncGenerator<StoredContract | CountedOnly> {
  for await (const { line, text } of splitElements(chunks)) {
    const contract = decoder.decode(JSON.parse(text) as JsonValue)?.contract;
    if (contract !== undefined && index.isLatest(contract.contractId, line)) yield contract;
  }
}

/** More than the counter of any reassignment: a line and a rank make one number. */
const MAX_RANK = 2 ** 20;

/** A contract id has 138 characters, its digest 32 bytes: the heap grows to several times what is kept. */
const keyOf = (contractId: string): string => digest("sha256", contractId, "binary");

/** What is found in the elements of a file, without their contracts. */
class SnapshotIndex {
  offset = 0;
  ignored = 0;
  readonly problems: Problem[] = [];
  readonly #decoder: Decoder;
  /** By the key of a contract id: the line of the latest state times MAX_RANK, and its rank. */
  readonly #latest = new Map<string, number>();

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  get isFull(): boolean {
    return this.problems.length >= MAX_PROBLEMS;
  }

  /** How many contracts the snapshot has. */
  get size(): number {
    return this.#latest.size;
  }

  isLatest(contractId: string, line: number): boolean {
    return Math.floor((this.#latest.get(keyOf(contractId)) ?? 0) / MAX_RANK) === line;
  }

  /** The contract of an element, if it is the latest state so far. */
  add(element: ElementText): StoredContract | CountedOnly | undefined {
    try {
      const value = parseElement(element);
      const contract = this.#decoder.decode(value)?.contract;
      this.offset = Math.max(this.offset, lastOffset(value));
      if (contract === undefined) this.ignored++;
      else if (this.#replacesEarlier(contract, element.line)) return contract;
    } catch (error) {
      this.problems.push({ line: element.line, reason: errorMessage(error) });
    }
    return undefined;
  }

  /** The state with the higher counter wins, else the assigned one. Throws if two are assigned: an invalid snapshot. */
  #replacesEarlier(
    { contractId, reassignmentCounter, synchronizerId }: StoredContract | CountedOnly,
    line: number,
  ): boolean {
    const rank = reassignmentCounter * 2 + (synchronizerId === undefined ? 0 : 1);
    const key = keyOf(contractId);
    const earlier = this.#latest.get(key);
    const earlierRank = earlier === undefined ? -1 : earlier % MAX_RANK;
    if (earlier !== undefined && rank === earlierRank && synchronizerId !== undefined)
      throw new Error(`contract ${contractId} is already on line ${Math.floor(earlier / MAX_RANK)}`);
    if (rank <= earlierRank) return false;
    this.#latest.set(key, line * MAX_RANK + rank);
    return true;
  }
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

/** The elements of a text, without parsing them. Throws FormError. */
export async function* splitElements(chunks: Chunks): AsyncGenerator<ElementText> {
  const splitter = new ElementSplitter();
  for await (const chunk of chunks) yield* splitter.push(chunk);
  yield* splitter.end();
}

/** Longer than any contract that a participant has. */
const MAX_ELEMENT_LENGTH = 64 * 1024 * 1024;

/**
 * Splits a JSON array or lines of JSON without parsing, to report a broken element with its line. The text comes in chunks;
 * of each, `push` yields the elements that it completes, and `end` what is left. Both throw FormError.
 */
class ElementSplitter {
  #form: "array" | "lines" | "closed" | undefined;
  /** From the beginning of the element that is not complete. */
  #text = "";
  /** Of the first character of #text. */
  #line = 1;
  /** From where #text is not scanned; beyond its end after a backslash. */
  #from = 0;
  #depth = 0;
  #isQuoted = false;
  #elements = 0;

  *push(chunk: string): Generator<ElementText> {
    this.#text += chunk;
    if (this.#text.length > MAX_ELEMENT_LENGTH + chunk.length)
      throw new FormError(
        this.#line,
        `the element that begins on this line is longer than ${MAX_ELEMENT_LENGTH} characters`,
      );
    if (this.#form === undefined) {
      // \s includes the byte order mark.
      const first = /\S/.exec(this.#text)?.[0];
      if (first === undefined) return;
      this.#form = first === "[" ? "array" : "lines";
    }
    if (this.#form === "lines") yield* this.#pushLines();
    else if (this.#form === "array") yield* this.#pushArray();
    else this.#checkClosed();
  }

  *end(): Generator<ElementText> {
    if (this.#form === undefined) throw new FormError(1, "the file is empty; write [] for a file without contracts");
    if (this.#form === "array") {
      throw new FormError(
        this.#lineOf(this.#text.length - this.#text.trimStart().length),
        "the array is not closed: the element that begins on this line does not end",
      );
    }
    const last = this.#text.trim();
    if (this.#form === "lines" && last !== "") yield { line: this.#line, text: last };
  }

  *#pushLines(): Generator<ElementText> {
    let start = 0;
    for (let end = this.#text.indexOf("\n", this.#from); end !== -1; end = this.#text.indexOf("\n", start)) {
      const text = this.#text.slice(start, end).trim();
      if (text !== "") yield { line: this.#line, text };
      this.#line++;
      start = end + 1;
    }
    this.#text = this.#text.slice(start);
    this.#from = this.#text.length;
  }

  *#pushArray(): Generator<ElementText> {
    // Not shared between scans: lastIndex is state.
    const marks = /["\\[\]{},]/g;
    marks.lastIndex = this.#from;
    let start = 0;
    for (let match = marks.exec(this.#text); match !== null; match = marks.exec(this.#text)) {
      const at = match.index;
      const [mark] = match;
      if (mark === "\\") marks.lastIndex = at + 2;
      else if (mark === '"') this.#isQuoted = !this.#isQuoted;
      else if (!this.#isQuoted && (mark === "[" || mark === "{")) {
        if (++this.#depth === 1) start = this.#skip(start, at + 1);
      } else if (!this.#isQuoted && (mark === "]" || mark === "}") && --this.#depth === 0) {
        const last = this.#text.slice(start, at);
        if (last.trim() !== "" || this.#elements > 0) yield this.#element(start, at);
        this.#skip(start, at);
        this.#form = "closed";
        if (mark === "}") throw new FormError(this.#line, "the array is closed by }");
        this.#text = this.#text.slice(at + 1);
        return this.#checkClosed();
      } else if (!this.#isQuoted && mark === "," && this.#depth === 1) {
        yield this.#element(start, at);
        this.#elements++;
        start = this.#skip(start, at + 1);
      }
      this.#from = marks.lastIndex;
    }
    this.#text = this.#text.slice(start);
    this.#from = Math.max(this.#text.length, this.#from - start);
  }

  #checkClosed(): void {
    if (this.#text.trim() !== "") throw new FormError(this.#line, "there is text after the end of the array");
    this.#text = "";
  }

  /** The element between two positions; #line is that of the first. */
  #element(start: number, end: number): ElementText {
    const slice = this.#text.slice(start, end);
    const text = slice.trim();
    const line = this.#line + newlines(slice, 0, slice.length - slice.trimStart().length);
    if (text === "") throw new FormError(line, "an element is missing before or after a comma");
    return { line, text };
  }

  /** Moves #line to another position. */
  #skip(from: number, to: number): number {
    this.#line += newlines(this.#text, from, to);
    return to;
  }

  #lineOf(position: number): number {
    return this.#line + newlines(this.#text, 0, position);
  }
}

function newlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
