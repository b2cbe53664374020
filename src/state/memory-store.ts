import { randomBytes } from "node:crypto";
import type { Change } from "../domain/contract.js";
import { State, StateReader } from "./state.js";
import { ChangeLog } from "./change-log.js";
import { type ChangeFeed, type Checkpoint, type Contracts, type StoreWriter } from "./port.js";

/** A store in the memory of this process. Not ready until the first `replace`. */
export class MemoryStore extends StateReader implements StoreWriter {
  readonly #changes = new ChangeLog();
  #checkpoint: Checkpoint | undefined;

  /** `newGeneration` returns a name that no store has used before. */
  constructor(private readonly newGeneration: () => string = () => randomBytes(9).toString("base64url")) {
    super();
  }

  get changes(): ChangeFeed {
    return this.#changes;
  }

  get checkpoint(): Checkpoint | undefined {
    return this.#checkpoint;
  }

  async replace(contracts: Contracts, offset: number, asOf?: number): Promise<void> {
    const generation = this.newGeneration();
    const state = new State(generation, offset, asOf);
    await state.fill(contracts);
    this.state = state;
    this.#checkpoint = { offset, updateId: undefined };
    this.#changes.reset({ generation, offset, asOf });
  }

  async apply(changes: readonly Change[], offset: number, asOf?: number, updateId?: string): Promise<void> {
    const state = this.ready();
    if (offset <= state.offset) return;
    this.#checkpoint = { offset, updateId };
    const tags = state.apply(changes, offset, asOf);
    this.#changes.append({ offset, asOf: state.asOf, tags });
  }
}
