import { randomBytes } from "node:crypto";
import type { Change } from "../domain/contract.js";
import { State, StateView } from "./state.js";
import { ChangeLog } from "./change-log.js";
import {
  type ChangeFeed,
  type Checkpoint,
  type Contracts,
  NotReady,
  type StoreReader,
  type StoreScan,
  type StoreWriter,
  type View,
} from "./port.js";

/** A store in the memory of this process. Not ready until the first `replace`. */
export class MemoryStore implements StoreReader, StoreWriter {
  readonly #changes = new ChangeLog();
  readonly #newGeneration: () => string;
  #state: State | undefined;
  #checkpoint: Checkpoint | undefined;

  /** `newGeneration` returns a name that no store has used before. */
  constructor(newGeneration: () => string = () => randomBytes(9).toString("base64url")) {
    this.#newGeneration = newGeneration;
  }

  get changes(): ChangeFeed {
    return this.#changes;
  }

  get checkpoint(): Checkpoint | undefined {
    return this.#checkpoint;
  }

  read<T>(use: (view: View) => T): T {
    return use(new StateView(this.#ready()));
  }

  /** A scan of this store. It needs no end. */
  openScan(): StoreScan {
    return {
      ids: (template) => ({ ids: [...this.#ready().ofTemplate(template).keys()], isComplete: true }),
      read: (use) => this.read(use),
    };
  }

  async replace(contracts: Contracts, offset: number, asOf?: number): Promise<void> {
    const generation = this.#newGeneration();
    const state = new State(generation, offset, asOf);
    await state.fill(contracts);
    this.#state = state;
    this.#checkpoint = { offset, updateId: undefined };
    this.#changes.reset({ generation, offset, asOf });
  }

  async apply(changes: readonly Change[], offset: number, asOf?: number, updateId?: string): Promise<void> {
    const state = this.#ready();
    if (offset <= state.offset) return;
    this.#checkpoint = { offset, updateId };
    const tags = state.apply(changes, offset, asOf);
    this.#changes.append({ offset, asOf: state.asOf, tags });
  }

  #ready(): State {
    if (this.#state === undefined) throw new NotReady();
    return this.#state;
  }
}
