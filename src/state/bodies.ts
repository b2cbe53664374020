import { type Body, type BodyTexts, type Contract, peekBody, setBody } from "../domain/contract.js";
import { type FetchedBodies, MAX_BODIES, type StateLog } from "./log.js";
import { type BodySource, type Position, StateMovedOn, StoreUnavailable } from "./port.js";

/** Statements under way at once: one is executed while the result of the other is read. */
const MAX_FETCHES = 2;
/** Bounds the memory of those who wait for a slow log. */
const MAX_WAITING = 10_000;
/** What an entry takes besides its texts: the map, the objects, the array of encodings. */
const ENTRY_BYTES = 400;

export interface BodiesOptions {
  readonly log: Pick<StateLog, "bodies">;
  /** Of bodies and their encodings. */
  readonly maxBytes: number;
  /** Called for contracts that the log has to have and does not. */
  readonly onMissing: (contractIds: readonly string[]) => void;
  /** As in BodySource. */
  readonly moveOn: () => Promise<void>;
}

type StateName = Pick<Position, "generation" | "offset">;

interface Waiting {
  readonly contractId: string;
  readonly generation: string;
  readonly resolve: (fetched: Fetched) => void;
  readonly reject: (error: unknown) => void;
}

interface Fetched {
  readonly head: FetchedBodies["head"];
  /** Undefined if the log has none. */
  readonly body: BodyTexts | undefined;
}

/**
 * The bodies of a follower's contracts: fetched by id where a rule has disclosed them, and kept with their encodings up to a
 * number of bytes, those used last. A body fits its id at any offset, so nothing can be mixed.
 */
export class Bodies implements BodySource {
  /** The bytes of each contract that has its body, the one that was not used for longest first. */
  readonly #kept = new Map<Contract, number>();
  #bytes = 0;
  /** By generation and id, of those that wait and those that are under way. */
  readonly #fetches = new Map<string, Promise<Fetched>>();
  #waiting: Waiting[] = [];
  #underWay = 0;

  constructor(private readonly options: BodiesOptions) {}

  /** Of bodies and encodings that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  has(contracts: readonly Contract[]): boolean {
    if (contracts.some((contract) => peekBody(contract) === undefined)) return false;
    for (const contract of contracts) this.#touch(contract);
    return true;
  }

  async take(contracts: readonly Contract[], state: StateName): Promise<() => void> {
    const held = new Map(contracts.map((contract) => [contract, peekBody(contract)]));
    const missing = contracts.filter((contract) => held.get(contract) === undefined);
    const fetched = await Promise.all(missing.map(({ contractId }) => this.#fetch(contractId, state.generation)));
    this.#checkPresent(missing, fetched, state);
    for (const [index, contract] of missing.entries()) {
      const body = fetched[index]?.body;
      if (body !== undefined) held.set(contract, { ...body, encodings: undefined });
    }
    return () => {
      for (const [contract, body] of held) {
        // Another request may have given the contract one meanwhile, which has encodings already.
        if (peekBody(contract) === undefined) setBody(contract, body);
        this.#touch(contract);
      }
    };
  }

  #checkPresent(missing: readonly Contract[], fetched: readonly Fetched[], state: StateName): void {
    const absent = fetched.findIndex(({ body }) => body === undefined);
    if (absent === -1) return;
    const head = fetched[absent]?.head;
    if (head === undefined || String(head.generation) !== state.generation || head.offset !== state.offset)
      throw new StateMovedOn();
    const ids = missing.filter((_contract, index) => fetched[index]?.body === undefined);
    this.options.onMissing(ids.map(({ contractId }) => contractId));
    throw new StoreUnavailable("the database lacks the content of a contract that is active; the log names it");
  }

  used(contracts: readonly Contract[]): void {
    for (const contract of contracts) this.#count(contract);
    for (const [contract, bytes] of this.#kept) {
      if (this.#bytes <= this.options.maxBytes) break;
      this.#kept.delete(contract);
      this.#bytes -= bytes;
      setBody(contract, undefined);
    }
  }

  moveOn(): Promise<void> {
    return this.options.moveOn();
  }

  #touch(contract: Contract): void {
    const bytes = this.#kept.get(contract);
    if (bytes === undefined) return;
    this.#kept.delete(contract);
    this.#kept.set(contract, bytes);
  }

  #count(contract: Contract): void {
    const body = peekBody(contract);
    if (body === undefined) return;
    const bytes = sizeOf(body);
    this.#bytes += bytes - (this.#kept.get(contract) ?? 0);
    this.#kept.set(contract, bytes);
  }

  #fetch(contractId: string, generation: string): Promise<Fetched> {
    const known = this.#fetches.get(nameOf({ contractId, generation }));
    if (known !== undefined) return known;
    if (this.#waiting.length >= MAX_WAITING) {
      throw new StoreUnavailable(
        `more than ${MAX_WAITING.toLocaleString("en-US")} contracts wait for the database; retry later`,
      );
    }
    const fetch = new Promise<Fetched>((resolve, reject) =>
      this.#waiting.push({ contractId, generation, resolve, reject }),
    );
    // A waiter may have ended by its deadline.
    fetch.catch(() => undefined);
    this.#fetches.set(nameOf({ contractId, generation }), fetch);
    // What one turn asks for shares a statement.
    if (this.#waiting.length === 1) queueMicrotask(() => this.#pump());
    return fetch;
  }

  #pump(): void {
    while (this.#underWay < MAX_FETCHES && this.#waiting.length > 0) {
      const generation = this.#waiting[0]?.generation;
      const next = this.#waiting.slice(0, MAX_BODIES).findIndex((one) => one.generation !== generation);
      void this.#fetchBatch(this.#waiting.splice(0, next === -1 ? MAX_BODIES : next));
    }
  }

  /** Of one generation. Never rejects. */
  async #fetchBatch(batch: readonly Waiting[]): Promise<void> {
    this.#underWay++;
    try {
      const ids = batch.map(({ contractId }) => contractId);
      const { head, bodies } = await this.options.log.bodies(ids, Number(batch[0]?.generation));
      for (const { contractId, resolve } of batch) resolve({ head, body: bodies.get(contractId) });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      for (const waiting of batch) this.#fetches.delete(nameOf(waiting));
      this.#underWay--;
      this.#pump();
    }
  }
}

const nameOf = ({ contractId, generation }: Pick<Waiting, "contractId" | "generation">): string =>
  `${generation} ${contractId}`;

/** Texts of a ledger are mostly one byte a character; encodings are texts or buffers. */
function sizeOf({ payload, views, createdEventBlob, encodings = [] }: Body): number {
  let bytes = ENTRY_BYTES + payload.length + views.length + createdEventBlob.length;
  for (const encoding of encodings) bytes += (encoding as { readonly length?: number } | undefined)?.length ?? 0;
  return bytes;
}
