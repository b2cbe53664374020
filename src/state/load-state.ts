/** Loads a state from a log, and tells from what the log has of its contracts whether the heap has room for it. */
import { Session } from "node:inspector";
import { isDeepStrictEqual } from "node:util";
import { getHeapStatistics } from "node:v8";
import type { Contract } from "../domain/contract.js";
import type { LoggedContract, LoggedState } from "./log.js";
import { StoreUnavailable } from "./port.js";
import { State } from "./state.js";

/** In bytes. */
export interface Heap {
  /** With garbage that was not collected yet. */
  readonly used: () => number;
  /** The most that objects may take. */
  readonly limit: () => number;
  /** Collects all garbage, for which the process stands still. */
  readonly collect: () => Promise<void>;
}

const MIB = 1024 * 1024;
/** V8's limit includes its young generation, where no state stays; https://nodejs.org/api/cli.html#--max-semi-space-sizen-in-mib */
const YOUNG_BYTES = 48 * MIB;

export const processHeap: Heap = {
  used: () => getHeapStatistics().used_heap_size,
  limit: () => getHeapStatistics().heap_size_limit - YOUNG_BYTES,
  async collect() {
    const session = new Session();
    session.connect();
    // A heap that cannot be collected has the garbage that it had.
    await new Promise<void>((resolve) => session.post("HeapProfiler.collectGarbage", () => resolve()));
    session.disconnect();
  },
};

/**
 * Fitted to heapUsed after garbage collection: 656 bytes a contract with 563 characters (100,000 of the scale bench; 685 with
 * 20,000), 470 with 304 and 2,684 with 2,780.
 */
const CONTRACT_BYTES = 220;
const BYTES_PER_CHARACTER = 0.9;
/** Of a contract that another state has as well: its places in the indexes, measured as 75 to 186. */
const SHARED_BYTES = 180;

/** Of the limit. V8 ends a process in which four collections in turn leave more than 0.8; requests, and garbage, take some, too. */
const USABLE = 0.72;
/** Above this share of the usable heap the next state may not fit. */
export const NEARLY_FULL = 0.8;
/** Contracts between two looks at the heap. */
const LOOK = 1_000;

/** A log has more contracts than the heap has room for. The message is for callers. */
export class StateTooLarge extends StoreUnavailable {
  constructor(
    /** For operators: what is needed, and what to set. */
    readonly reason: string,
    /** Of the usable heap. */
    readonly share: number,
  ) {
    super("the required contracts cannot be read at the moment; try again later");
    this.name = "StateTooLarge";
  }
}

/** The size of a state that is being loaded, and then moves on. */
export class StateSize {
  /** What everything else has, and what is beside: the least that was seen, since the heap has garbage. */
  #others = Infinity;
  #contracts = 0;
  /** Of all contracts, and of what is not shared with the state beside it. */
  #whole = 0;
  #own = 0;
  #isCollected = false;
  /** What is counted from then on is not kept. */
  #isFull = false;

  constructor(
    private readonly heap: Heap,
    /** Of the state beside which it is loaded. */
    private readonly beside = 0,
  ) {
    this.#look();
  }

  /** Counts a contract. Returns whether all that were counted seem to fit. */
  add(characters: number, isShared: boolean): boolean {
    const bytes = CONTRACT_BYTES + characters * BYTES_PER_CHARACTER;
    this.#contracts++;
    this.#whole += bytes;
    this.#own += isShared ? SHARED_BYTES : bytes;
    if (this.#contracts % LOOK === 0) this.#look();
    return this.#fits();
  }

  /** Collects garbage where what was counted does not seem to fit, once. Returns whether it does. */
  async makeRoom(): Promise<boolean> {
    if (!this.#isCollected) {
      this.#isCollected = true;
      await this.heap.collect();
      this.#look();
    }
    this.#isFull = !this.#fits();
    return !this.#isFull;
  }

  #fits(): boolean {
    return this.#others + this.#own <= this.#usable();
  }

  #usable(): number {
    return USABLE * this.heap.limit();
  }

  /** Once all contracts were counted, and do not fit. */
  tooLarge(): StateTooLarge {
    // While a generation is switched there are two.
    const wanted = Math.ceil((this.#others + Math.max(this.#own, 2 * this.#whole)) / USABLE / MIB);
    const reason =
      `the ${this.#contracts.toLocaleString("en-US")} contracts of the database need ${mib(this.#own)} of the heap, which has ` +
      `room for ${mib(Math.max(0, this.#usable() - this.#others))}: set NODE_OPTIONS=--max-old-space-size=${wanted}`;
    return new StateTooLarge(reason, (this.#others + this.#own) / this.#usable());
  }

  /** The bytes of the state now that it has so many contracts. */
  bytes(contracts: number): number {
    return this.#contracts === 0 ? 0 : (this.#whole / this.#contracts) * contracts;
  }

  /** The share of the usable heap that everything takes now that the state has so many contracts. */
  share(contracts: number): number {
    return (this.#others - this.beside + this.bytes(contracts)) / this.#usable();
  }

  #look(): void {
    if (this.#isFull) return;
    this.#others = Math.min(this.#others, this.heap.used() - this.#own);
  }
}

const mib = (bytes: number): string => `${Math.ceil(bytes / MIB).toLocaleString("en-US")} MiB`;

/**
 * Loads a state, with pauses for others. Contracts that `known` has as well, equal in all that changes, are the same objects.
 * Counted holdings are not loaded: the log has the sums. Throws StateTooLarge if the heap has no room for it, and what the log
 * throws.
 */
export async function loadState(logged: LoggedState, known: State | undefined, size: StateSize): Promise<State> {
  const { head, contracts, archived, sums } = logged;
  const rows = contracts[Symbol.asyncIterator]();
  try {
    const state = await fill(new State(String(head.generation), head.offset, head.asOf), rows, known, size);
    if (state === undefined) {
      for await (const { size: characters } of rest(rows)) size.add(characters, false);
      throw size.tooLarge();
    }
    await state.complete(archived, sums);
    return state;
  } finally {
    await rows.return?.();
  }
}

/** Without a reference to what was loaded once it returns undefined, because it is too large. */
async function fill(
  state: State,
  rows: AsyncIterator<LoggedContract>,
  known: State | undefined,
  size: StateSize,
): Promise<State | undefined> {
  async function* fitting(): AsyncGenerator<Contract> {
    for await (const { contract, size: characters } of rest(rows)) {
      const shared = known && sharedBy(known, contract);
      if (!size.add(characters, shared !== undefined) && !(await size.makeRoom())) throw new Full();
      yield shared ?? contract;
    }
  }
  try {
    await state.fill(fitting());
    return state;
  } catch (error) {
    if (error instanceof Full) return undefined;
    throw error;
  }
}

class Full extends Error {}

/** To leave its loop does not end the rows. */
const rest = <T>(rows: AsyncIterator<T>): AsyncIterable<T> => ({
  [Symbol.asyncIterator]: () => ({ next: () => rows.next() }),
});

function sharedBy(known: State, contract: Contract): Contract | undefined {
  const other = known.byId(contract.contractId);
  const isEqual =
    other?.synchronizerId === contract.synchronizerId &&
    other?.reassignmentCounter === contract.reassignmentCounter &&
    other.template === contract.template &&
    isDeepStrictEqual(other.fields, contract.fields);
  return isEqual ? other : undefined;
}
