import { invalidField } from "../domain/errors.js";
import { anyRegistrarHash, registrarHash, type Tag, tagOf } from "../state/lookup-hash.js";
import type { ChangeFeed, LoggedChange, Position } from "../state/port.js";
import { memoizeLast } from "../util/memoize.js";
import { generationName } from "./executor.js";

/** Where a stream is: its client knows all changes up to here. */
export interface StreamPosition {
  /** As in ReadVersion: with the configuration. */
  readonly generation: string;
  readonly offset: number;
}

const TOKEN = /^(\d{1,16})\.([\w.-]{1,200})$/;

export const resumeToken = ({ generation, offset }: StreamPosition): string => `${offset}.${generation}`;

/** Throws "invalid" for a text that is no resume token. */
export function parseResumeToken(token: string): StreamPosition {
  const [, offset, generation] = TOKEN.exec(token) ?? [];
  if (offset === undefined || generation === undefined || !Number.isSafeInteger(Number(offset)))
    throw invalidField("resumeToken", "is no token of this service: use that of the latest event, unchanged");
  return { generation, offset: Number(offset) };
}

/** The tags of which a change must have one; undefined for all changes. */
export type Filter = ReadonlySet<Tag> | undefined;

export function createFilter(registrars: readonly string[], tags: readonly Tag[]): Filter {
  if (registrars.length === 0 && tags.length === 0) return undefined;
  const ofRegistrars = registrars.length === 0 ? [] : [anyRegistrarHash, ...registrars.map(registrarHash)].map(tagOf);
  return new Set([...ofRegistrars, ...tags]);
}

export function matches(filter: Filter, tags: ReadonlySet<Tag>): boolean {
  if (filter === undefined) return true;
  const [few, many] = filter.size < tags.size ? [filter, tags] : [tags, filter];
  for (const tag of few) if (many.has(tag)) return true;
  return false;
}

/** Says that its reader now knows of all changes up to a position. */
export type WatchEvent = StreamPosition & {
  /** Ledger time of the state at the position, in microseconds since 1970; undefined if the source gave none. */
  readonly asOf: number | undefined;
} & (
    | { readonly type: "reset" }
    /** The tags of changed lookups, each once. */
    | { readonly type: "changed"; readonly tags: readonly Tag[] }
    /** Milliseconds since the store was last known to equal the ledger; undefined if it never was. */
    | { readonly type: "heartbeat"; readonly age: number | undefined }
  );

/** More in one event would cost more than to ask again. */
const MAX_TAGS = 10_000;

/** The changes up to a position that moves in steps: what streams send at a time is the same for all of them. */
export class ReleasedChanges {
  #released: Position | undefined;
  /** The latest event of a stream without a filter; others at the same position get the same object. */
  #shared: { readonly from: StreamPosition; readonly event: WatchEvent } | undefined;

  constructor(
    private readonly feed: ChangeFeed,
    private readonly configurationId: string,
  ) {
    this.#released = feed.position;
  }

  /** Undefined before the first state. */
  get position(): (StreamPosition & Pick<Position, "asOf">) | undefined {
    return this.#released === undefined ? undefined : this.#named(this.#released);
  }

  /** Moves to the present state. Returns the tags of what has changed since; undefined if everything may have. */
  release(): ReadonlySet<Tag> | undefined {
    const before = this.#released;
    this.#released = this.feed.position;
    this.#shared = undefined;
    const changes = before === undefined ? undefined : this.feed.since(before);
    return changes === undefined ? undefined : unionOf(changes);
  }

  /** What a stream at a position has to send; undefined if nothing. Call it only when there is a position. */
  after(position: StreamPosition, filter: Filter): WatchEvent | undefined {
    const released = this.#released;
    if (released === undefined) return undefined;
    if (filter === undefined && this.#shared?.from.offset === position.offset) {
      if (this.#shared.from.generation === position.generation) return this.#shared.event;
    }
    const event = this.#eventAfter(position, filter, released);
    if (filter === undefined && event !== undefined) this.#shared = { from: position, event };
    return event;
  }

  #eventAfter(position: StreamPosition, filter: Filter, released: Position): WatchEvent | undefined {
    const now = this.#named(released);
    // The feed may be past the released position, and no longer know what lies between.
    if (position.generation === now.generation && position.offset >= now.offset) return undefined;
    const known =
      position.generation === now.generation
        ? this.feed.since({ ...position, generation: released.generation, asOf: undefined })
        : undefined;
    if (known === undefined) return { type: "reset", ...now };
    const all = known.filter(({ offset }) => offset <= released.offset);
    const due = filter === undefined ? all : all.filter(({ tags }) => matches(filter, tags));
    if (due.length === 0) return undefined;
    // Where there is one registrar, streams of its changes get the events of all.
    if (filter !== undefined && due.length === all.length) return this.after(position, undefined);
    const tags = unionOf(due);
    return tags.size > MAX_TAGS ? { type: "reset", ...now } : { type: "changed", tags: [...tags], ...now };
  }

  readonly #named = memoizeLast(({ generation, offset, asOf }: Position) => ({
    generation: generationName(generation, this.configurationId),
    offset,
    asOf,
  }));
}

function unionOf(changes: readonly LoggedChange[]): ReadonlySet<Tag> {
  const union = new Set<Tag>();
  for (const { tags } of changes) for (const tag of tags) union.add(tag);
  return union;
}

/** Releases the first change at once, and those of the next `mergeMs` together, or of longer while the streams are busy. */
export class Coalescing {
  #timer: NodeJS.Timeout | undefined;
  #isReleasing = false;
  /** When the first change was made that is not released yet. */
  #changedAt: number | undefined;
  /** The next changes are not released before. */
  #notBefore = -Infinity;
  #isClosed = false;
  #lagMs = 0;

  /**
   * `release` releases what has changed, and returns how many milliseconds the streams were busy with it. `clock` is monotonic,
   * in milliseconds. `mergeMs` bounds the events of a stream, whatever the ledger does.
   */
  constructor(
    private readonly release: () => Promise<number>,
    private readonly clock: () => number,
    private readonly mergeMs: number,
  ) {}

  /** How long it took until all waiting streams had the latest changes, in milliseconds. */
  get lagMs(): number {
    return this.#lagMs;
  }

  /** Call this for each change. */
  changed(): void {
    this.#changedAt ??= this.clock();
    if (this.#timer === undefined && !this.#isReleasing) this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#changedAt === undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#release(), Math.max(0, this.#notBefore - this.clock()));
  }

  /** Afterwards the streams rest for as long as they took, which leaves half of the time for requests. */
  async #release(): Promise<void> {
    this.#timer = undefined;
    this.#isReleasing = true;
    const begunAt = this.clock();
    const changedAt = this.#changedAt ?? begunAt;
    this.#changedAt = undefined;
    const took = await this.release();
    this.#notBefore = Math.max(begunAt + this.mergeMs, this.clock() + took);
    this.#lagMs = this.clock() - changedAt;
    this.#isReleasing = false;
    this.#schedule();
  }
}
