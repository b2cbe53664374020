/**
 * A log in memory, written to be plainly right: every commit keeps the whole state after it, and a step is what differs
 * between two of them. It shares no code with src/state/state.ts, which is compared with it.
 */
import {
  type Change,
  type Contract,
  type CountedOnly,
  isStored,
  type StoredContract,
} from "../../src/domain/contract.js";
import type { Tally } from "../../src/domain/template.js";
import {
  type FetchedBodies,
  type Heartbeat,
  type LoggedContract,
  type LogHead,
  type LoggedState,
  type LogNotices,
  type LogPosition,
  type LogProgress,
  type LogStep,
  MAX_STEP_ROWS,
  type StateLog,
  type Tombstone,
} from "../../src/state/log.js";
import {
  idHash,
  type LookupHash,
  registrarHashOf,
  sumHash,
  type Tag,
  tagOf,
  touchedLookups,
} from "../../src/state/lookup-hash.js";
import {
  type Checkpoint,
  type Contracts,
  MAX_ARCHIVED_IDS,
  NotReady,
  StoreUnavailable,
  type StoreWriter,
} from "../../src/state/port.js";

interface ArrayLogOptions {
  readonly origin?: string;
  /** The clock of the log, which tells the time. */
  readonly now?: () => number;
  /** On the way of each call to the log and back. It may take a time, or throw StoreUnavailable. */
  readonly pass?: () => Promise<void>;
  /** On the way of a notice, which it may deliver late or never. */
  readonly deliver?: (notice: () => void) => void;
  /** Called with each commit, and the one before it; undefined for a snapshot. */
  readonly onCommit?: (committed: Committed, before: Committed | undefined) => void;
}

/** One commit: the whole state after it, and what it has touched. None is ever changed. */
export interface Committed extends LogPosition {
  readonly origin: string;
  readonly asOf: number | undefined;
  readonly contracts: ReadonlyMap<string, StoredContract>;
  readonly counted: ReadonlyMap<string, CountedOnly>;
  /** Oldest first. */
  readonly archived: ReadonlyMap<string, LookupHash | undefined>;
  /** The tags of each contract that the commit archived, oldest first. */
  readonly died: ReadonlyMap<string, ReadonlySet<Tag>>;
  readonly touchedSums: ReadonlySet<LookupHash>;
  /** Those of sums, of all contracts of the generation that were only counted. */
  readonly tallies: ReadonlyMap<LookupHash, Tally>;
}

/** All that a backup has. */
interface Content {
  /** Of the served generation, the snapshot first. */
  readonly commits: readonly Committed[];
  /** Those of the generations before, and until when they are there. */
  readonly retired: readonly { readonly commits: readonly Committed[]; readonly until: number }[];
  /** Filled, and not served yet. */
  readonly next: Committed | undefined;
  /** What came after lower offsets is no longer known. */
  readonly watermark: number;
  readonly heartbeat: Omit<Heartbeat, "elapsed"> | undefined;
  readonly otherHistory: string | undefined;
}

const NOTHING: Content = {
  commits: [],
  retired: [],
  next: undefined,
  watermark: 0,
  heartbeat: undefined,
  otherHistory: undefined,
};

const RETIRED_MS = 600_000;

/** What a writer waits for while it replaces the state. May throw. */
interface Replacing {
  /** While it fills the next generation. */
  readonly filling: () => Promise<void>;
  /** While followers load it, before it is served. */
  readonly preparing: () => Promise<void>;
}

const AT_ONCE: Replacing = { filling: () => Promise.resolve(), preparing: () => Promise.resolve() };

export class ArrayLog implements StateLog {
  readonly #options: Required<ArrayLogOptions>;
  #content = NOTHING;
  #epoch = 0;
  /** Not part of the content: a restored log uses none again. */
  #generations = 0;
  readonly #listeners = new Map<LogNotices, () => void>();
  /** How often a generation was filled and never served. */
  givenUp = 0;
  /** The mirror that leads: what it does with the id of a request. */
  onCatchUpRequest: (id: string) => unknown = () => undefined;

  constructor({
    origin = "tests",
    now = () => 0,
    pass = () => Promise.resolve(),
    deliver = (notice) => notice(),
    onCommit = () => undefined,
  }: ArrayLogOptions = {}) {
    this.#options = { origin, now, pass, deliver, onCommit };
  }

  /** That of the writer which may write. */
  get epoch(): number {
    return this.#epoch;
  }

  get latest(): Committed | undefined {
    return this.#content.commits.at(-1);
  }

  get commits(): readonly Committed[] {
    return this.#content.commits;
  }

  /**
   * A writer of a new term, whose origin may become another meanwhile. Those of earlier terms write nothing more, and what they
   * have not served is given up.
   */
  begin(origin: string | (() => string) = this.#options.origin, replacing = AT_ONCE): ArrayWriter {
    if (this.#content.next !== undefined) this.givenUp++;
    this.#content = { ...this.#content, next: undefined };
    const current = typeof origin === "string" ? () => origin : origin;
    return new ArrayWriter(this, current, ++this.#epoch, replacing);
  }

  backup(): Content {
    return this.#content;
  }

  /** The log is what it was. Its writer has lost it. */
  restore(content: Content): void {
    this.#content = content;
    this.#epoch++;
  }

  /** Forgets what came after offsets below this one. */
  trim(watermark: number): void {
    this.#content = { ...this.#content, watermark: Math.max(this.#content.watermark, watermark) };
  }

  /** Ends all sessions that listen. */
  endSessions(): void {
    for (const end of this.#listeners.values()) end();
  }

  async progress(since: LogPosition | undefined): Promise<LogProgress> {
    await this.#options.pass();
    const head = this.#head();
    const step = head === undefined || since === undefined ? undefined : this.#stepFrom(since);
    await this.#options.pass();
    return head === undefined ? "empty" : { head, step };
  }

  async load<T>(
    use: (state: LoggedState | undefined) => Promise<T>,
    signal: AbortSignal,
    generation?: number,
  ): Promise<T> {
    await this.#options.pass();
    const { latest } = this;
    const { next } = this.#content;
    const loaded = [latest, next].find(
      (one) => one !== undefined && one.generation === (generation ?? latest?.generation),
    );
    if (loaded === undefined) return use(undefined);
    const head = this.#headAt(loaded);
    const { pass } = this.#options;
    async function* slowly<I>(items: Iterable<I>) {
      await pass();
      for (const item of items) {
        if (signal.aborted) throw new StoreUnavailable("the load was ended");
        yield item;
      }
      await pass();
    }
    return use({
      head: loaded === next ? { ...head, next: undefined } : head,
      contracts: slowly([...loaded.contracts.values()].map(withoutBody).map(withSize)),
      archived: slowly([...loaded.archived].map(([contractId, registrar]) => ({ contractId, registrar, tags: [] }))),
      sums: slowly([...sumsOf(loaded)].map(([sum, amount]) => ({ sum, amount, tally: loaded.tallies.get(sum) }))),
    });
  }

  async bodies(contractIds: readonly string[], generation: number): Promise<FetchedBodies> {
    await this.#options.pass();
    const { commits, retired } = this.#content;
    const past = retired.filter(({ until }) => this.#options.now() < until).flatMap((one) => one.commits);
    const states = [...past, ...commits].filter((one) => one.generation === generation);
    const found = contractIds.flatMap((id) => {
      const contract = states.findLast(({ contracts }) => contracts.has(id))?.contracts.get(id);
      if (contract === undefined) return [];
      const { payload, views, createdEventBlob } = contract.body;
      return [[id, { payload, views, createdEventBlob }] as const];
    });
    const head = this.#head();
    await this.#options.pass();
    return { head, bodies: new Map(found) };
  }

  async listen(notices: LogNotices, signal: AbortSignal): Promise<void> {
    await this.#options.pass();
    await new Promise<void>((resolve) => {
      const end = () => {
        this.#listeners.delete(notices);
        signal.removeEventListener("abort", end);
        resolve();
      };
      if (signal.aborted) return resolve();
      signal.addEventListener("abort", end);
      this.#listeners.set(notices, end);
      notices.listening();
    });
  }

  async requestCatchUp(id: string): Promise<void> {
    await this.#options.pass();
    this.#options.deliver(() => this.onCatchUpRequest(id));
  }

  /** The mirror has committed all that a request asked for. */
  async caughtUp(id: string): Promise<void> {
    await this.#options.pass();
    this.#tellAll((notices) => notices.caughtUp(id));
  }

  /** Of a writer: replaces the content, unless another writer has begun. */
  async write(epoch: number, change: (content: Content, now: number) => Content): Promise<void> {
    await this.#options.pass();
    if (epoch !== this.#epoch) throw new LeaseLost();
    const { latest: before } = this;
    this.#content = change(this.#content, this.#options.now());
    const { latest } = this;
    if (latest !== undefined && latest !== before)
      this.#options.onCommit(latest, latest.generation === before?.generation ? before : undefined);
    this.#tellAll(({ committed }) => committed());
    await this.#options.pass();
  }

  nextGeneration(): number {
    return ++this.#generations;
  }

  #head(): LogHead | undefined {
    return this.latest && this.#headAt(this.latest);
  }

  #headAt({ generation, offset, updateId, asOf, origin }: Committed): LogHead {
    const { heartbeat, otherHistory, next } = this.#content;
    const confirmedAt = heartbeat?.confirmedAt;
    const elapsed = confirmedAt === undefined ? undefined : this.#options.now() - confirmedAt;
    return {
      generation,
      offset,
      updateId,
      asOf,
      origin,
      otherHistory,
      heartbeat: heartbeat && { ...heartbeat, elapsed },
      next: next && { generation: next.generation, offset: next.offset, origin: next.origin, asOf: next.asOf },
    };
  }

  #stepFrom(since: LogPosition): LogStep | undefined {
    const { commits, watermark } = this.#content;
    const from = commits.findIndex(
      ({ generation, offset, updateId }) =>
        generation === since.generation && offset === since.offset && updateId === since.updateId,
    );
    const [base, head] = [commits[from], commits.at(-1)];
    if (base === undefined || head === undefined || base.offset < watermark) return undefined;
    const step = difference(base, head, commits.slice(from + 1));
    return step.archived.length + step.active.length + step.sums.length > MAX_STEP_ROWS ? undefined : step;
  }

  #tellAll(tell: (notices: LogNotices) => void): void {
    for (const notices of this.#listeners.keys()) this.#tell(notices, tell);
  }

  #tell(notices: LogNotices, tell: (notices: LogNotices) => void): void {
    this.#options.deliver(() => {
      if (this.#listeners.has(notices)) tell(notices);
    });
  }
}

/** Another writer has begun, or the log was restored. */
export class LeaseLost extends Error {}

/** Writes in one term. */
class ArrayWriter implements StoreWriter {
  readonly #log: ArrayLog;
  readonly #origin: () => string;
  readonly #epoch: number;
  readonly #replacing: Replacing;
  /** Of its latest snapshot. */
  generation: number | undefined;

  constructor(log: ArrayLog, origin: () => string, epoch: number, replacing: Replacing) {
    this.#log = log;
    this.#origin = origin;
    this.#epoch = epoch;
    this.#replacing = replacing;
  }

  get checkpoint(): Checkpoint | undefined {
    const { latest } = this.#log;
    if (latest === undefined || latest.origin !== this.#origin()) return undefined;
    return { offset: latest.offset, updateId: latest.updateId };
  }

  async replace(given: Contracts, offset: number, asOf?: number): Promise<void> {
    const contracts = new Map<string, StoredContract>();
    const counted = new Map<string, CountedOnly>();
    for await (const one of given) {
      const { contractId } = one;
      if (contracts.has(contractId) || counted.has(contractId)) throw new Error(`contract ${contractId} appears twice`);
      if (isStored(one)) contracts.set(contractId, one);
      else counted.set(contractId, one);
    }
    const generation = this.#log.nextGeneration();
    this.generation = generation;
    const tallies = withTallies(new Map(), [...counted.values()]);
    const none = { archived: new Map(), died: new Map(), touchedSums: new Set<LookupHash>(), tallies };
    const snapshot = {
      generation,
      offset,
      updateId: undefined,
      origin: this.#origin(),
      asOf,
      contracts,
      counted,
      ...none,
    };
    await this.#replacing.filling();
    if (this.#log.latest !== undefined) {
      await this.#log.write(this.#epoch, (content) => ({ ...content, next: snapshot }));
      await this.#replacing.preparing();
    }
    await this.#log.write(this.#epoch, ({ commits, retired, ...content }, now) => ({
      ...content,
      commits: [snapshot],
      retired: [...retired, { commits, until: now + RETIRED_MS }],
      next: undefined,
      watermark: offset,
    }));
  }

  async apply(changes: readonly Change[], offset: number, asOf?: number, updateId?: string): Promise<void> {
    if (this.#log.latest === undefined) throw new NotReady();
    await this.#log.write(this.#epoch, (content) => {
      const before = content.commits.at(-1);
      if (before === undefined || offset <= before.offset) return content;
      const after = { ...changed(before, changes), offset, updateId, asOf: asOf ?? before.asOf };
      return { ...content, commits: [...content.commits, after] };
    });
  }

  /** As the heartbeat of a mirror: without an age, what was known before still holds. */
  async heartbeat(age: number | undefined, otherHistory?: string): Promise<void> {
    await this.#log.write(this.#epoch, (content, now) => ({
      ...content,
      heartbeat: {
        count: (content.heartbeat?.count ?? 0) + 1,
        writtenAt: now,
        confirmedAt: age === undefined ? content.heartbeat?.confirmedAt : now - age,
      },
      otherHistory: age === undefined ? (otherHistory ?? content.otherHistory) : otherHistory,
    }));
  }
}

function changed(before: Committed, changes: readonly Change[]): Committed {
  const contracts = new Map(before.contracts);
  const counted = new Map(before.counted);
  const archived = new Map(before.archived);
  const died = new Map<string, ReadonlySet<Tag>>();
  const touchedSums = new Set<LookupHash>();
  const touch = (one: Contract | CountedOnly | undefined) => {
    if (one?.supply !== undefined) touchedSums.add(sumHash(one.supply.sum));
  };
  for (const change of changes) {
    if ("archived" in change) {
      const id = change.archived;
      const dead = contracts.get(id);
      touch(dead);
      touch(counted.get(id));
      contracts.delete(id);
      counted.delete(id);
      const registrar = dead === undefined ? archived.get(id) : registrarHashOf(dead);
      archived.delete(id);
      archived.set(id, registrar);
      const tags = new Set([...(died.get(id) ?? []), tagOf(idHash(id)), ...tagsOf(dead)]);
      died.delete(id);
      died.set(id, tags);
    } else if ("unassigned" in change) {
      const stored = contracts.get(change.unassigned);
      const { reassignmentCounter } = change;
      if (stored === undefined || reassignmentCounter <= stored.reassignmentCounter) continue;
      contracts.set(stored.contractId, { ...stored, synchronizerId: undefined, reassignmentCounter });
    } else if (isStored(change.active)) {
      const stored = contracts.get(change.active.contractId);
      if (stored !== undefined && stored.reassignmentCounter > change.active.reassignmentCounter) continue;
      if (stored === undefined) touch(change.active);
      contracts.set(change.active.contractId, { ...change.active });
    } else if (!counted.has(change.active.contractId)) {
      touch(change.active);
      counted.set(change.active.contractId, change.active);
    }
  }
  const latest = new Map([...archived].slice(-MAX_ARCHIVED_IDS));
  const tallies = withTallies(before.tallies, [...counted.values()]);
  return { ...before, contracts, counted, archived: latest, died, touchedSums, tallies };
}

const withTallies = (before: Committed["tallies"], counted: readonly CountedOnly[]): Committed["tallies"] =>
  new Map([
    ...before,
    ...counted.flatMap(({ supply: { sum, tally } }) => (tally === undefined ? [] : [[sumHash(sum), tally] as const])),
  ]);

/** What leads from one state to a later one. `between` are the commits after the first, up to the later one. */
function difference(base: Committed, head: Committed, between: readonly Committed[]): LogStep {
  const tombstones = new Map<string, Tombstone>();
  for (const { died } of between) {
    for (const [contractId, tags] of died) {
      const all = new Set([...(tombstones.get(contractId)?.tags ?? []), ...tags]);
      tombstones.delete(contractId);
      tombstones.set(contractId, { contractId, registrar: head.archived.get(contractId), tags: [...all] });
    }
  }
  const active = [...head.contracts.values()].filter(
    (contract) => base.contracts.get(contract.contractId) !== contract,
  );
  const touched = new Set(between.flatMap(({ touchedSums }) => [...touchedSums]));
  const sums = sumsOf(head);
  return {
    archived: [...tombstones.values()],
    active: active.map(withoutBody),
    sums: [...touched].map((sum) => ({ sum, amount: sums.get(sum) ?? 0n, tally: head.tallies.get(sum) })),
  };
}

const tagsOf = (contract: StoredContract | undefined): readonly Tag[] =>
  contract === undefined ? [] : touchedLookups(contract).map(tagOf);

/** The sums that are not 0. */
export function sumsOf({ contracts, counted }: Committed): ReadonlyMap<LookupHash, bigint> {
  const sums = new Map<LookupHash, bigint>();
  for (const { supply } of [...contracts.values(), ...counted.values()]) {
    if (supply !== undefined) sums.set(sumHash(supply.sum), (sums.get(sumHash(supply.sum)) ?? 0n) + supply.amount);
  }
  return new Map([...sums].filter(([, amount]) => amount !== 0n));
}

/** A contract as a reader gets it. Fields pass through JSON. */
function withoutBody({ body: _body, ...contract }: StoredContract): Contract {
  return { ...contract, fields: JSON.parse(JSON.stringify(contract.fields)) as unknown };
}

const withSize = (contract: Contract): LoggedContract => ({
  contract,
  size: JSON.stringify(contract.fields).length + 100,
});
