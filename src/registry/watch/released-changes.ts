import { memoizeLast } from "../../util/memoize-last.js";
import type { ChangeFeed, LoggedChange, Position } from "../../store/port.js";
import type { Tag } from "../../store/lookup-hash.js";
import { generationName } from "../basis.js";
import { type Filter, matches } from "./filter.js";
import type { StreamPosition } from "./position.js";
import type { WatchEvent } from "./watch-event.js";

/** More in one event would cost more than to ask again. */
const MAX_TAGS = 10_000;

/** The changes up to a position that moves in steps: what streams send at a time is the same for all of them. */
export class ReleasedChanges {
  readonly #feed: ChangeFeed;
  readonly #configurationId: string;
  #released: Position | undefined;
  /** The latest event of a stream without a filter; others at the same position get the same object. */
  #shared: { readonly from: StreamPosition; readonly event: WatchEvent } | undefined;

  constructor(feed: ChangeFeed, configurationId: string) {
    this.#feed = feed;
    this.#configurationId = configurationId;
    this.#released = feed.position;
  }

  /** Undefined before the first state. */
  get position(): (StreamPosition & Pick<Position, "asOf">) | undefined {
    return this.#released === undefined ? undefined : this.#named(this.#released);
  }

  /** Whether the state has moved on. */
  get isBehind(): boolean {
    return this.#feed.position !== this.#released;
  }

  /** Moves to the present state. Returns the tags of what has changed since; undefined if everything may have. */
  release(): ReadonlySet<Tag> | undefined {
    const before = this.#released;
    this.#released = this.#feed.position;
    this.#shared = undefined;
    const changes = before === undefined ? undefined : this.#feed.since(before);
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
        ? this.#feed.since({ ...position, generation: released.generation, asOf: undefined })
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
    generation: generationName(generation, this.#configurationId),
    offset,
    asOf,
  }));
}

function unionOf(changes: readonly LoggedChange[]): ReadonlySet<Tag> {
  const union = new Set<Tag>();
  for (const { tags } of changes) for (const tag of tags) union.add(tag);
  return union;
}
