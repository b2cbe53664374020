import type { JsonValue } from "../util/json.js";
import type { Decoder } from "../ledger/decode.js";
import type { Ledger, UpdateStream } from "../ledger/participant/client.js";
import {
  decodeUpdate,
  showsContractOf,
  type Snapshot,
  type Unreadable,
  type Update,
} from "../ledger/participant/elements.js";
import { LedgerError } from "../ledger/participant/errors.js";
import type { Checkpoint, StoreWriter } from "../state/port.js";
import { errorMessage, type Logger } from "../util/logger.js";
import type { LagTracker } from "./lag.js";

export interface ApplierOptions {
  readonly ledger: Pick<Ledger, "missing">;
  readonly decoder: Decoder;
  readonly writer: StoreWriter;
  readonly lag: LagTracker;
  readonly log: Logger;
  /** Called before an update with a contract of a package that was missing: it is there now, and older contracts of it may be. */
  readonly findMissing: () => Promise<void>;
}

/** Why a stream is abandoned for another one. That is no failure. */
export class Reopened extends Error {
  constructor() {
    super("the stream is opened again");
    this.name = "Reopened";
  }
}

/** Writes snapshots and updates into the store: none twice, and none of another history than the followed stream's. */
export class Applier {
  #checkpoint: Checkpoint | undefined;
  /** All updates up to here are applied, or have nothing for us. May be past the checkpoint. */
  #confirmedOffset = 0;
  #followed: UpdateStream | undefined;
  #abandonedFor: Error | undefined;
  #lastWrite: Promise<void> = Promise.resolve();
  #hasFollowed = false;
  #lacking: readonly string[] = [];
  /** Choices of the participant for which the stream is opened again. */
  readonly #doubted = new Set<string>();
  #unvetted: ReadonlyMap<string, string> = new Map();

  constructor(private readonly options: ApplierOptions) {
    this.#checkpoint = options.writer.checkpoint;
  }

  /** Where the store can resume; undefined if a snapshot is required. */
  get checkpoint(): Checkpoint | undefined {
    return this.#checkpoint;
  }

  get confirmedOffset(): number {
    return this.#confirmedOffset;
  }

  get stream(): UpdateStream | undefined {
    return this.#followed;
  }

  /** By each choice with which views fail on every stream, a contract that is left out for it. */
  get unvetted(): ReadonlyMap<string, string> {
    return this.#unvetted;
  }

  /** Whether a stream was followed. */
  get hasFollowed(): boolean {
    return this.#hasFollowed;
  }

  /** The packages that the participant lacked when the store was filled: their contracts are not in it. */
  get lacking(): readonly string[] {
    return this.#lacking;
  }

  /** Takes up what the store has, of the parties and without the packages that are known only now. */
  resume(): void {
    const { ledger, writer } = this.options;
    this.#lacking = ledger.missing;
    this.#checkpoint = writer.checkpoint;
  }

  requireSnapshot(): void {
    this.#checkpoint = undefined;
  }

  /** Replaces the content of the store. `asOf` is the time of the snapshot, in milliseconds since 1970. */
  replace({ offset, contracts, unreadable, existing }: Snapshot, asOf: number): Promise<void> {
    return this.#enqueue(async () => {
      const failure = this.#doubt(unreadable);
      if (failure !== undefined) throw failure;
      this.#unvetted = unvettedIn(unreadable);
      this.#doubted.clear();
      this.#logUnreadable(unreadable);
      this.#lacking = this.options.ledger.missing;
      await this.options.writer.replace([...contracts, ...existing], offset, asOf * 1000);
      this.#checkpoint = { offset, updateId: undefined };
      this.options.lag.reached(offset);
    });
  }

  /** Accepts updates of a stream opened at the checkpoint. After a restore, other updates may follow the checkpoint. */
  follow(stream: UpdateStream): void {
    this.#hasFollowed = true;
    this.#followed = stream;
    this.#confirmedOffset = this.#checkpoint?.offset ?? 0;
    this.options.lag.reached(this.#confirmedOffset);
  }

  /** Returns why the stream was abandoned; undefined if it was not. */
  unfollow(): Error | undefined {
    const reason = this.#abandonedFor;
    this.#abandonedFor = undefined;
    this.#followed = undefined;
    return reason;
  }

  /** Closes the followed stream, if there is one: for a failure that was met elsewhere, or for another stream. */
  abandon(reason: Error): void {
    if (this.#followed === undefined) return;
    this.#abandonedFor ??= reason;
    this.#followed.close();
  }

  /**
   * Skips updates applied before, which stream and fetch may both bring, and all if `followed` is not followed now, or is
   * abandoned. Returns whether it has applied any.
   */
  apply(elements: readonly JsonValue[], followed: UpdateStream): Promise<boolean> {
    return this.#enqueue(async () => {
      const { ledger, findMissing } = this.options;
      const { missing } = ledger;
      if (missing.length > 0 && elements.some((element) => showsContractOf(element, missing))) await findMissing();
      return this.#apply(elements, followed);
    });
  }

  async #apply(elements: readonly JsonValue[], followed: UpdateStream): Promise<boolean> {
    if (followed !== this.#followed || this.#abandonedFor !== undefined) return false;
    const { updates, failure } = this.#decode(elements);
    let end = this.#confirmedOffset;
    const fresh = updates.filter(({ offset }) => {
      const isFresh = offset > end;
      end = Math.max(end, offset);
      return isFresh;
    });
    const last = fresh.findLast(({ updateId }) => updateId !== undefined);
    const isApplied = last !== undefined;
    if (isApplied) {
      this.#unvetted = new Map([...this.#unvetted, ...unvettedIn(fresh.flatMap(({ unreadable }) => unreadable))]);
      this.#doubted.clear();
      const { offset, updateId } = last;
      const recorded = fresh.findLast((update) => update.recorded !== undefined)?.recorded;
      const changes = fresh.flatMap((update) => update.changes);
      // Not where contracts are left out since the store was filled.
      const isWhole = this.options.ledger.missing.every((name) => this.#lacking.includes(name));
      const canResume = this.#checkpoint !== undefined && isWhole;
      await this.options.writer.apply(changes, offset, recorded, canResume ? updateId : undefined);
      // Even if the stream was left during the write, the store is now at this offset.
      if (this.#checkpoint !== undefined && offset > this.#checkpoint.offset) this.#checkpoint = { offset, updateId };
      if (followed === this.#followed) this.#logUnreadable(fresh.flatMap(({ unreadable }) => unreadable));
    }
    this.confirm(end, followed);
    if (failure !== undefined) throw failure;
    return isApplied;
  }

  confirm(offset: number, followed: UpdateStream): void {
    if (followed !== this.#followed || offset <= this.#confirmedOffset) return;
    this.#confirmedOffset = offset;
    this.options.lag.reached(offset);
  }

  /** Runs writes one after the other, so that each sees which updates the ones before have applied. */
  #enqueue<T>(write: () => Promise<T>): Promise<T> {
    const result = this.#lastWrite.then(write);
    this.#lastWrite = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  /** The updates before the first that cannot be decoded, or has a view that another stream may show. */
  #decode(elements: readonly JsonValue[]): { readonly updates: readonly Update[]; readonly failure?: LedgerError } {
    const updates: Update[] = [];
    for (const element of elements) {
      try {
        const update = decodeUpdate(element, this.options.decoder);
        const failure = this.#doubt(update.unreadable);
        if (failure !== undefined) return { updates, failure };
        updates.push(update);
      } catch (error) {
        const reason = `an update cannot be decoded: ${errorMessage(error)}`;
        return { updates, failure: new LedgerError("unreadable", reason) };
      }
    }
    return { updates };
  }

  /** Why to open the stream again before contracts are left out; undefined if that was done for each choice. */
  #doubt(unreadable: readonly Unreadable[]): LedgerError | undefined {
    const doubted = unreadable.filter(
      ({ choice }) => choice !== undefined && !this.#unvetted.has(choice) && !this.#doubted.has(choice),
    );
    for (const { choice = "" } of doubted) this.#doubted.add(choice);
    return doubted[0] && new LedgerError("unvetted", doubted[0].reason);
  }

  #logUnreadable(unreadable: readonly Unreadable[]): void {
    for (const { contractId, templateId, reason, choice } of unreadable) {
      const message = `contract skipped: ${contractId ?? "one without an id"} of ${templateId ?? "no template"} cannot be parsed`;
      const remedy =
        choice === undefined
          ? "look for a newer release of this service"
          : "vet the package on the participant, which is asked again every 30 s";
      const hint = `${remedy}; requests that need the contract are answered without it, or with 503`;
      this.options.log.error({ contractId, templateId, reason, hint }, message);
    }
  }
}

const unvettedIn = (unreadable: readonly Unreadable[]): ReadonlyMap<string, string> =>
  new Map(
    unreadable.flatMap(({ choice, contractId }) =>
      choice === undefined || contractId === undefined ? [] : [[choice, contractId] as const],
    ),
  );

/** The largest batch of updates that is written at once. */
const MAX_BATCH = 100;

/** Batches items available together, yielding to the event loop in between. Source errors follow earlier items. */
export async function* inBatches<T>(items: AsyncIterable<T>, max = MAX_BATCH): AsyncGenerator<readonly T[]> {
  const iterator = items[Symbol.asyncIterator]();
  const request = () => {
    const next = iterator.next();
    // A consumer that leaves early must not cause an unhandled rejection.
    next.catch(() => undefined);
    return next;
  };
  for (let next = request(); ;) {
    const first = await next;
    if (first.done === true) return;
    const batch = [first.value];
    next = request();
    // Items that are available now resolve before setImmediate does.
    const later = new Promise<"later">((resolve) => {
      setImmediate(resolve, "later");
    });
    while (batch.length < max) {
      const item = await Promise.race([next, later]).catch(() => "later" as const);
      if (item === "later" || item.done === true) break;
      batch.push(item.value);
      next = request();
    }
    yield batch;
    await later;
  }
}
