/** What the service answers at each of its states, and what its responses say of themselves. */
import type { StoredContract, CountedOnly } from "../../src/domain/contract.js";
import type { Registry } from "../../src/registry/sdk/registry.js";
import { MemoryStore } from "../../src/state/memory-store.js";
import type { StoreReader } from "../../src/state/port.js";
import type { Call } from "../fixtures/protocols.js";
import { type Deployment, InProcessService } from "./deployment.js";
import { type HttpResponse, isNotModified, type Kept, parseKept } from "./documented-client.js";

interface State {
  /** As responses and events name it. */
  readonly generation: string;
  readonly offset: number;
  readonly asOf: number;
  readonly contracts: readonly (StoredContract | CountedOnly)[];
  store: MemoryStore | undefined;
  /** By request, each with the time of the answer. */
  readonly answers: Map<Call, { readonly now: number; readonly text: string }>;
}

/** All states that the service has had, and what it answers at each: from a store that has never changed. */
export class History {
  readonly #now: () => number;
  readonly #service: InProcessService;
  readonly #states: State[] = [];
  readonly #indexes = new Map<string, number>();
  #store = new MemoryStore();

  constructor(registry: Registry, now: () => number, countsHoldings: boolean) {
    this.#now = now;
    const reader: StoreReader = {
      read: (use) => this.#store.read(use),
      ids: (template) => this.#store.ids(template),
    };
    this.#service = new InProcessService({ registry, reader, now, countsHoldings });
  }

  get latest(): number {
    return this.#states.length - 1;
  }

  record(state: Omit<State, "store" | "answers">): void {
    this.#indexes.set(`${state.generation} ${state.offset}`, this.#states.length);
    this.#states.push({ ...state, store: undefined, answers: new Map() });
  }

  /** The index of a state by its name. Throws if there was none. */
  indexOf({ generation, offset }: { readonly generation: string; readonly offset: number }): number {
    const index = this.#indexes.get(`${generation} ${offset}`);
    if (index === undefined) throw new Error(`there was no state ${offset} of ${generation}`);
    return index;
  }

  /** The body of the response at a state, now; for an error with its status. */
  async answer(index: number, call: Call): Promise<string> {
    const state = this.#states[index];
    if (state === undefined) throw new Error(`no state ${index}`);
    const now = this.#now();
    const known = state.answers.get(call);
    if (known?.now === now) return known.text;
    if (state.store === undefined) {
      state.store = new MemoryStore();
      await state.store.replace(state.contracts, state.offset, state.asOf);
    }
    this.#store = state.store;
    const { status, body } = await this.#service.respond(call);
    const text = status === 200 ? body : `${status} ${body}`;
    state.answers.set(call, { now, text });
    return text;
  }

  /** Whether the service gives this answer now at one of the states from `index` on. */
  async hasAnswer(index: number, call: Call, body: string): Promise<boolean> {
    for (let at = index; at <= this.latest; at++) if ((await this.answer(at, call)) === body) return true;
    return false;
  }
}

/** Answers whose tags are checked against later changes, for each request. */
const MAX_ANSWERS = 4;

/** Answers whose tags have not changed since. They must be the same. */
export class TaggedAnswers {
  /** By request. */
  readonly #tagged = new Map<string, { readonly call: Call; readonly answers: readonly Kept[] }>();

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
