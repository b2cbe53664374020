import { NotReady, type StoreReader } from "../store/store.js";
import { unavailable } from "./errors.js";
import type { Registry, Scene } from "./registry.js";

/** Puts questions to a registry, each at one moment and on one state of the store. */
export class Engine {
  readonly #registry: Registry;
  readonly #reader: StoreReader;
  readonly #now: () => number;

  /** `now` gives milliseconds since 1970. */
  constructor(registry: Registry, reader: StoreReader, now: () => number) {
    this.#registry = registry;
    this.#reader = reader;
    this.#now = now;
  }

  /** Throws RegistryError where there is no answer. */
  async ask<T>(question: (registry: Registry, scene: Scene) => Promise<T>): Promise<T> {
    try {
      return await this.#reader.read((view) => question(this.#registry, { view, now: this.#now() }));
    } catch (error) {
      throw error instanceof NotReady ? unavailable(error.message) : error;
    }
  }
}
