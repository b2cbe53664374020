import type { Contract, CountedOnly } from "../../src/domain/contract.js";
import type { Registry } from "../../src/registry/sdk/registry.js";
import { MemoryStore } from "../../src/store/memory/memory-store.js";
import type { StoreReader } from "../../src/store/port.js";
import type { Call } from "../fixtures/protocols.js";
import { InProcessService } from "./in-process-service.js";

interface State {
  /** As responses and events name it. */
  readonly generation: string;
  readonly offset: number;
  readonly asOf: number;
  readonly contracts: readonly (Contract | CountedOnly)[];
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
    const reader: StoreReader = { read: (use) => this.#store.read(use) };
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
