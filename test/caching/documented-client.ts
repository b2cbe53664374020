/** The cache of a client, written from docs/caching.md alone. It knows HTTP and events, and nothing of the service. */

export interface HttpResponse {
  readonly status: number;
  /** By lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A server-sent event. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

export interface Kept {
  readonly key: string;
  readonly etag: string;
  readonly body: string;
  readonly generation: string;
  readonly offset: number;
  readonly hasTag: (tag: string) => boolean;
  /** Microseconds since 1970. */
  readonly validUntil: number;
}

export type Earlier = Pick<Kept, "etag" | "body">;

interface Changed {
  readonly offset: number;
  readonly tags: readonly string[];
}

/** In each event. */
interface EventData {
  readonly generation: string;
  readonly offset: string;
  readonly resumeToken: string;
  readonly changed?: { readonly tags: readonly string[] };
}

interface Clocks {
  /** Milliseconds since 1970, as the `Date` header counts. */
  readonly now: () => number;
  /** Monotonic, in milliseconds. */
  readonly elapsed: () => number;
}

const MAX_SILENCE_MS = 25_000;

export class DocumentedClient {
  /** Of the latest event: opens the next stream. */
  resumeToken = "";
  readonly #clocks: Clocks;
  readonly #maxRemembered: number;
  readonly #kept = new Map<string, Kept>();
  /** Responses with their entity tags, by request, also those that were dropped: the service may say that they hold again. */
  readonly #bodies = new Map<string, Earlier>();
  #isOpen = false;
  /** The latest event of the stream that is open. */
  #latest: { readonly generation: string; readonly offset: number; readonly at: number } | undefined;
  #resetOffset = 0;
  #remembered: Changed[] = [];
  #forgottenOffset = -1;

  /** It remembers so many `changed` events. */
  constructor(clocks: Clocks, maxRemembered: number) {
    this.#clocks = clocks;
    this.#maxRemembered = maxRemembered;
  }

  /** Undefined before the first event of a stream. */
  get latest(): { readonly generation: string; readonly offset: number } | undefined {
    return this.#latest;
  }

  /** What `use` may return, now or later. */
  get kept(): readonly Kept[] {
    return [...this.#kept.values()];
  }

  streamOpened(): void {
    this.#isOpen = true;
    this.#latest = undefined;
  }

  streamEnded(): void {
    this.#isOpen = false;
  }

  /** Returns the dropped responses. */
  handle({ event, data }: ServerSentEvent): readonly Kept[] {
    const { generation, offset: text, resumeToken, changed } = JSON.parse(data) as EventData;
    const offset = Number(text);
    let dropped: Kept[] = [];
    if (event === "reset") {
      dropped = this.kept.slice();
      this.#remembered = [];
      this.#forgottenOffset = -1;
      this.#resetOffset = offset;
    } else if (event === "changed") {
      const { tags } = changed ?? { tags: [] };
      dropped = this.kept.filter((kept) => kept.offset < offset && tags.some(kept.hasTag));
      this.#remembered.push({ offset, tags });
      while (this.#remembered.length > this.#maxRemembered)
        this.#forgottenOffset = Math.max(this.#forgottenOffset, this.#remembered.shift()?.offset ?? 0);
    } else if (event !== "heartbeat") throw new Error(`docs/caching.md has no event ${event}`);
    for (const { key } of dropped) this.#kept.delete(key);
    this.resumeToken = resumeToken;
    this.#latest = { generation, offset, at: this.#clocks.elapsed() };
    return dropped;
  }

  /** The earlier response with which a request is conditional. */
  earlier(key: string): Earlier | undefined {
    return this.#bodies.get(key);
  }

  /**
   * Takes the response to a request that was conditional with an earlier one, or not, and returns its body. `mayKeep` is
   * false for one that the stream does not cover.
   */
  receive(key: string, { status, headers, body }: HttpResponse, earlier?: Earlier, mayKeep = true): string {
    const etag = headers.get("etag");
    if (etag === undefined || status !== 200) return body;
    const isSame = isNotModified(headers);
    if (isSame && etag !== earlier?.etag)
      throw new Error(`the response is not modified, and its entity tag is ${etag}`);
    const text = isSame && earlier !== undefined ? earlier.body : body;
    this.#bodies.set(key, { etag, body: text });
    const kept = mayKeep ? parseKept(key, text, headers) : undefined;
    if (kept !== undefined && this.#mayKeep(kept)) this.#kept.set(key, kept);
    return text;
  }

  #mayKeep({ generation, offset, hasTag }: Kept): boolean {
    if (!this.#isOpen || this.#latest?.generation !== generation) return false;
    if (offset < this.#resetOffset || offset < this.#forgottenOffset) return false;
    return !this.#remembered.some((event) => event.offset > offset && event.tags.some(hasTag));
  }

  /** The kept response to a request. Undefined if there is none that may be used now. */
  use(key: string): Kept | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined || !this.#isOpen || this.#latest === undefined) return undefined;
    if (this.#clocks.elapsed() - this.#latest.at > MAX_SILENCE_MS) return undefined;
    return this.#clocks.now() * 1000 < kept.validUntil ? kept : undefined;
  }
}

/** Whether the body is that of the response with the entity tag which was sent. */
export const isNotModified = (headers: HttpResponse["headers"]): boolean =>
  headers.get("offledger-not-modified") === "true";

/** Undefined for a response that says nothing of tags. */
function parseKept(key: string, body: string, headers: HttpResponse["headers"]): Kept | undefined {
  const tags = headers.get("offledger-tags");
  if (tags === undefined) return undefined;
  const validUntil = headers.get("offledger-valid-until");
  return {
    key,
    body,
    etag: headers.get("etag") ?? "",
    generation: headers.get("offledger-generation") ?? "",
    offset: Number(headers.get("offledger-offset")),
    hasTag: parseTags(tags),
    validUntil: validUntil === undefined ? Infinity : microseconds(validUntil),
  };
}

/** A list of tags, or a bit set of their first three digits. */
function parseTags(value: string): (tag: string) => boolean {
  if (!value.startsWith("~")) {
    const listed = new Set(value.split(","));
    return (tag) => listed.has(tag);
  }
  const bytes = Buffer.from(value.slice(1), "base64url");
  return (tag) => {
    const bit = Number.parseInt(tag.slice(0, 3), 16);
    return (((bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1) === 1;
  };
}

/** An RFC 3339 time in UTC. */
function microseconds(time: string): number {
  const fraction = /\.(\d{1,6})/.exec(time)?.[1] ?? "";
  return Date.parse(time.replace(/\.\d+/, "")) * 1000 + Number(fraction.padEnd(6, "0"));
}
