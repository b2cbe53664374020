/** Reads a snapshot file: its elements, one after the other, and which of them are the contracts of the snapshot. */
import { hash as digest } from "node:crypto";
import { type StoredContract, type CountedOnly, isStored } from "../../domain/contract.js";
import type { JsonObject, JsonValue } from "../../domain/json.js";
import { errorMessage } from "../../util/logger.js";
import { type Decoder, lastOffset } from "../decode.js";
import { fieldsOf } from "../json-fields.js";
import { messageError } from "../participant/errors.js";
import { type Chunks, type ElementText, FormError, splitElements } from "./splitter.js";

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

/** Reads a file in one pass; its contracts are in memory. */
export async function parseSnapshot(chunks: Chunks, decoder: Decoder): Promise<Snapshot> {
  const { index, contracts } = await holdSnapshot(() => chunks, decoder);
  const { offset, ignored, problems } = index;
  return { contracts: [...contracts()], offset, ignored, problems };
}

/**
 * Reads a file in two passes, so that no more than its index is in memory: the first finds problems, and on which line the
 * latest state of each contract is; the second, `contracts`, yields these. `open` begins the file anew.
 */
export async function indexSnapshot(open: () => Chunks, decoder: Decoder): Promise<IndexedSnapshot> {
  const index = await readIndex(open(), decoder);
  return { index, contracts: () => latestContracts(open(), index, decoder) };
}

export interface IndexedSnapshot {
  readonly index: SnapshotIndex;
  readonly contracts: () => Iterable<StoredContract | CountedOnly> | AsyncIterable<StoredContract | CountedOnly>;
}

/** As `indexSnapshot`, in one pass and half of the time, for who holds all contracts anyway. */
export async function holdSnapshot(open: () => Chunks, decoder: Decoder) {
  const held = new Map<string, StoredContract | CountedOnly>();
  const index = await readIndex(open(), decoder, (contract) => void held.set(contract.contractId, contract));
  return { index, contracts: () => held.values() };
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
      if (index.isFull) return index;
    }
    index.checkPages();
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
  let number = 0;
  for await (const { text } of splitElements(chunks)) {
    number++;
    const value = JSON.parse(text) as JsonValue;
    const contract = isPage(value) ? undefined : decoder.decode(value)?.contract;
    if (contract !== undefined && index.isLatest(contract.contractId, number)) yield contract;
  }
}

/** A page of contracts without its contracts, which are elements of their own. */
const isPage = (value: JsonValue): value is JsonObject => "activeContracts" in fieldsOf(value);

/** A contract id has 138 characters, its digest 32 bytes: the heap grows to several times what is kept. */
const keyOf = (contractId: string): string => digest("sha256", contractId, "binary");

/** The latest state of a contract that was found. */
interface Latest {
  /** Of the element, from 1. */
  readonly number: number;
  readonly line: number;
  /** The state with the higher counter wins, else the assigned one. */
  readonly rank: number;
  /** Of what the element says of the contract. */
  readonly digest: number;
}

/** What is found in the elements of a file, without their contracts. */
class SnapshotIndex {
  offset = 0;
  ignored = 0;
  readonly problems: Problem[] = [];
  readonly #decoder: Decoder;
  #elements = 0;
  /** By the key of a contract id. */
  readonly #latest = new Map<string, Latest>();
  /** The pages of each export, by its offset: the line of the last one read, and whether the last of the export is there. */
  readonly #exports = new Map<number, { readonly line: number; readonly isComplete: boolean }>();

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

  isLatest(contractId: string, number: number): boolean {
    return this.#latest.get(keyOf(contractId))?.number === number;
  }

  /** The contract of an element, if it is the latest state so far. */
  add(element: ElementText): StoredContract | CountedOnly | undefined {
    this.#elements++;
    try {
      const value = parseElement(element);
      if (isPage(value)) {
        this.#addPage(value, element.line);
        return undefined;
      }
      const error = messageError(value);
      if (error !== undefined) throw new Error(`it is an error instead of contracts: ${error.message}`);
      const contract = this.#decoder.decode(value)?.contract;
      this.offset = Math.max(this.offset, lastOffset(value));
      if (contract === undefined) this.ignored++;
      else if (this.#replacesEarlier(contract, element.line)) return contract;
    } catch (error) {
      this.problems.push({ line: element.line, reason: errorMessage(error) });
    }
    return undefined;
  }

  #addPage({ activeContracts, activeAtOffset, nextPageToken = null }: JsonObject, line: number): void {
    if (!Array.isArray(activeContracts)) throw new Error("activeContracts must be an array, but is not one");
    const offset = typeof activeAtOffset === "number" ? activeAtOffset : 0;
    this.offset = Math.max(this.offset, offset);
    const isLast = nextPageToken === null || nextPageToken === "";
    this.#exports.set(offset, { line, isComplete: isLast || this.#exports.get(offset)?.isComplete === true });
  }

  /** Reports each export whose last page is missing: it would be served as if it were all. */
  checkPages(): void {
    for (const [offset, { line, isComplete }] of this.#exports)
      if (!isComplete && !this.isFull) this.problems.push({ line, reason: missingPage(offset) });
  }

  /** Throws if another element contradicts it: an invalid snapshot. */
  #replacesEarlier(contract: StoredContract | CountedOnly, line: number): boolean {
    const { contractId, reassignmentCounter, synchronizerId } = contract;
    const rank = reassignmentCounter * 2 + (synchronizerId === undefined ? 0 : 1);
    const key = keyOf(contractId);
    const earlier = this.#latest.get(key);
    const latest = { number: this.#elements, line, rank, digest: digestOf(contract) };
    if (earlier?.rank === rank && earlier.digest !== latest.digest)
      throw new Error(`contract ${contractId} is already on line ${earlier.line}, with other content`);
    if (earlier !== undefined && rank <= earlier.rank) return false;
    this.#latest.set(key, latest);
    return true;
  }
}

/** A number of 48 bits: elements differ by mistake, not to deceive. */
function digestOf(contract: StoredContract | CountedOnly): number {
  const { synchronizerId = null } = contract;
  const content = isStored(contract)
    ? [synchronizerId, contract.templateId, contract.createdAt, contract.body.createdEventBlob, contract.body.payload]
    : [synchronizerId, contract.supply.sum, String(contract.supply.amount)];
  return Number.parseInt(digest("sha256", JSON.stringify(content), "hex").slice(0, 12), 16);
}

const missingPage = (offset: number): string =>
  `the export at offset ${offset} is not complete: each of its pages has a nextPageToken, so its last page is missing. ` +
  "Request the next page with that token until a page has none";

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
