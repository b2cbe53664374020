/** Reads a snapshot file: its elements, one after the other, and which of them are the contracts of the snapshot. */
import { hash as digest } from "node:crypto";
import { type StoredContract, type CountedOnly, isStored } from "../../domain/contract.js";
import type { JsonObject, JsonValue } from "../../util/json.js";
import { errorMessage } from "../../util/logger.js";
import { type Decoder, lastOffset, rankOf } from "../decode.js";
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
  /** How many of the ignored none of our registrars has signed; undefined where signatures do not matter. */
  readonly foreign: number | undefined;
  /** Empty if the file is valid. Holds the first MAX_PROBLEMS. */
  readonly problems: readonly Problem[];
}

export const MAX_PROBLEMS = 20;

/** Reads a file in one pass; its contracts are in memory. */
export async function parseSnapshot(chunks: Chunks, decoder: Decoder): Promise<Snapshot> {
  const index = await readIndex(chunks, decoder, true);
  const { offset, ignored, problems } = index;
  return { contracts: [...index.held()], offset, ignored, foreign: decoder.foreign, problems };
}

/**
 * Reads a file, which `open` begins anew. With `isHeld` in one pass, for who holds all contracts anyway; else in two, so that
 * no more than its index is in memory: the first finds problems, and on which line the latest state of each contract is; the
 * second, `contracts`, yields these.
 */
export async function readSnapshot(open: () => Chunks, decoder: Decoder, isHeld: boolean) {
  const index = await readIndex(open(), decoder, isHeld);
  return { index, contracts: () => (isHeld ? index.held() : latestContracts(open(), index, decoder)) };
}

/** Finds what a file has, until it has too many problems. */
async function readIndex(chunks: Chunks, decoder: Decoder, holdsContracts: boolean): Promise<SnapshotIndex> {
  const index = new SnapshotIndex(decoder, holdsContracts);
  try {
    for await (const element of splitElements(chunks)) {
      index.add(element);
      if (index.isFull) return index;
    }
    index.checkPages();
    index.checkViews();
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
  decoder.begin();
  for await (const { text } of splitElements(chunks)) {
    number++;
    const value = JSON.parse(text) as JsonValue;
    const contract = isPage(value) ? undefined : decoder.decode(value);
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
  readonly rank: number;
  /** The contract where contracts are held, else a digest of what the element says of it. */
  readonly said: StoredContract | CountedOnly | number;
}

/** What is found in the elements of a file. */
class SnapshotIndex {
  offset = 0;
  ignored = 0;
  readonly problems: Problem[] = [];
  #elements = 0;
  /** By contract id where contracts are held, else by its key. */
  readonly #latest = new Map<string, Latest>();
  /** The pages of each export, by its offset: the line of the last one read, and whether the last of the export is there. */
  readonly #exports = new Map<number, { readonly line: number; readonly isComplete: boolean }>();

  constructor(
    private readonly decoder: Decoder,
    private readonly holdsContracts: boolean,
  ) {
    decoder.begin();
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

  *held(): Generator<StoredContract | CountedOnly> {
    for (const { said } of this.#latest.values()) if (typeof said === "object") yield said;
  }

  add(element: ElementText): void {
    this.#elements++;
    try {
      const value = parseElement(element);
      if (isPage(value)) {
        this.#addPage(value, element.line);
        return;
      }
      const error = messageError(value);
      if (error !== undefined) throw new Error(`it is an error instead of contracts: ${error.message}`);
      const contract = this.decoder.decode(value);
      this.offset = Math.max(this.offset, lastOffset(value));
      if (contract === undefined) this.ignored++;
      else this.#addContract(contract, element.line);
    } catch (error) {
      this.problems.push({ line: element.line, reason: errorMessage(error) });
    }
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

  /** An export without views would be served as one without contracts. */
  checkViews(): void {
    const { readsViews, withViews } = this.decoder;
    if (this.#elements > 0 && this.problems.length === 0 && readsViews && withViews === 0)
      this.problems.push({ line: 1, reason: WITHOUT_VIEWS });
  }

  /** Throws if another element contradicts it: an invalid snapshot. */
  #addContract(contract: StoredContract | CountedOnly, line: number): void {
    const { contractId } = contract;
    const rank = rankOf(contract);
    const key = this.holdsContracts ? contractId : keyOf(contractId);
    const said = this.holdsContracts ? contract : digestOf(contract);
    const earlier = this.#latest.get(key);
    if (earlier?.rank === rank && digestOf(earlier.said) !== digestOf(said))
      throw new Error(`contract ${contractId} is already on line ${earlier.line}, with other content`);
    if (earlier === undefined || rank > earlier.rank)
      this.#latest.set(key, { number: this.#elements, line, rank, said });
  }
}

/** A number of 48 bits: elements differ by mistake, not to deceive. */
function digestOf(contract: Latest["said"]): number {
  if (typeof contract === "number") return contract;
  const { synchronizerId = null } = contract;
  const content = isStored(contract)
    ? [
        synchronizerId,
        contract.templateId,
        contract.createdAt,
        contract.body.createdEventBlob,
        contract.body.payload,
        contract.body.views,
      ]
    : [synchronizerId, contract.supply.sum, String(contract.supply.amount)];
  return Number.parseInt(digest("sha256", JSON.stringify(content), "hex").slice(0, 12), 16);
}

const missingPage = (offset: number): string =>
  `the export at offset ${offset} is not complete: each of its pages has a nextPageToken, so its last page is missing. ` +
  "Request the next page with that token until a page has none";

const WITHOUT_VIEWS =
  "no contract shows the view of an interface, by which this registry reads contracts: export them with an " +
  '"InterfaceFilter" for each interface, with "includeInterfaceView": true (docs/snapshot-file.md)';

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
