import type { Call } from "../fixtures/protocols.js";
import type { Deployment } from "./deployment.js";
import { type HttpResponse, isNotModified, type Kept, parseKept } from "./documented-client.js";
import type { History } from "./history.js";

/** Answers whose tags are checked against later changes, for each request. */
const MAX_ANSWERS = 4;

interface Tagged {
  readonly call: Call;
  readonly answers: readonly Kept[];
}

/** Answers whose tags have not changed since. They must be the same. */
export class TaggedAnswers {
  /** By request. */
  readonly #tagged = new Map<string, Tagged>();

  note(key: string, call: Call, { status, headers, body }: HttpResponse): void {
    const kept = status === 200 && !isNotModified(headers) ? parseKept(key, body, headers) : undefined;
    if (kept === undefined) return;
    const answers = [...(this.#tagged.get(key)?.answers ?? []), kept].slice(-MAX_ANSWERS);
    this.#tagged.set(key, { call, answers });
  }

  /** Of another generation, nothing is known. */
  clear(): void {
    this.#tagged.clear();
  }

  /** Throws an Error if one has changed and none of its tags has, before its time is over. */
  async check(deployment: Deployment, history: History): Promise<void> {
    const generation = await deployment.generation();
    for (const [key, { call, answers }] of this.#tagged) {
      const left: Kept[] = [];
      for (const kept of answers) {
        // A replica that has not seen a restore yet still answers from the state before: offsets do not compare.
        if (kept.generation !== generation) continue;
        const changed = await deployment.changedSince(kept.offset);
        if (changed === undefined || [...changed].some(kept.hasTag)) continue;
        if (deployment.clocks.now() * 1000 >= kept.validUntil) continue;
        left.push(kept);
        const now = await history.answer(history.latest, call);
        if (now !== kept.body)
          throw new Error(`no tag of an answer has changed, but it has: ${key}\nwas ${kept.body}\nnow ${now}`);
      }
      this.#tagged.set(key, { call, answers: left });
    }
  }
}

/** The entity tags of all responses that were seen: equal tags have equal bodies, and the other way round. */
export class EntityTags {
  readonly #bodies = new Map<string, string>();
  /** By request and body. */
  readonly #tags = new Map<string, string>();

  /** Throws an Error if a response contradicts an earlier one. */
  note(key: string, etag: string, body: string): void {
    const named = `${key} ${body}`;
    const knownBody = this.#bodies.get(etag) ?? body;
    const knownTag = this.#tags.get(named) ?? etag;
    if (knownBody !== body) throw new Error(`two responses have the entity tag ${etag}:\n${knownBody}\n${body}`);
    if (knownTag !== etag)
      throw new Error(`one response has the entity tags ${knownTag} and ${etag}:\n${key}\n${body}`);
    this.#bodies.set(etag, body);
    this.#tags.set(named, etag);
  }
}

/** What many scripts have done. */
export class Figures {
  asked = 0;
  readonly statuses: Record<string, number> = {};
  kept = 0;
  notModified = 0;
  /** Answers from the cache. */
  served = 0;
  /** Answers that the cache could have given, each compared with the states. */
  checked = 0;
  /** Answers dropped by `changed`, and those of them that had changed. */
  dropped = 0;
  changed = 0;
  readonly events: Record<string, number> = {};

  /** The share of the dropped answers that had changed. */
  get useful(): number {
    return this.changed / this.dropped;
  }

  toString(): string {
    return JSON.stringify(Object.assign({}, this, { useful: this.useful }));
  }
}
