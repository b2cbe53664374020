/** Processes that answer from the log. */
import { bodyOf } from "../../src/domain/contract.js";
import { notFound, RegistryError } from "../../src/domain/errors.js";
import type { Template } from "../../src/domain/template.js";
import { type StalenessLimits, staleReason } from "../../src/ingest/lag.js";
import { QueryExecutor } from "../../src/service/executor.js";
import type { Registry } from "../../src/registry/sdk/registry.js";
import { Bodies } from "../../src/state/bodies.js";
import { Follower } from "../../src/state/follower.js";
import type { StateLog } from "../../src/state/log.js";
import type { StoreReader, View } from "../../src/state/port.js";
import type { ArrayLog } from "../state/array-log.js";
import type { VirtualClock } from "./clock.js";
import type { Link, Network } from "./network.js";
import { Process } from "./process.js";

/** Time for a request to reach the mirror and come back, in addition to the mirror's own wait. */
const ROUND_TRIP_MS = 500;

export interface FollowerWorld {
  readonly clock: VirtualClock;
  readonly network: Network;
  readonly log: ArrayLog;
  readonly limits: StalenessLimits;
  readonly readWait: number;
  /** The log as followers read it. A test may put a fault in. */
  readonly readLog: (log: StateLog) => StateLog;
  readonly note: (line: string) => void;
  /** Called with contracts whose bodies the log has to have and does not. */
  readonly lost: (contractIds: readonly string[]) => void;
}

/** What one request got. `seen` is what its last run made of the state, at a time; `blob` is of the contract that was found. */
export interface Reply<T> {
  readonly blob?: string;
  readonly outcome: "found" | "not found" | "unavailable";
  readonly seen: { readonly value: T; readonly at: number; readonly hasReachedEnd: boolean } | undefined;
}

/** Of bodies that are kept: few, so that most are fetched. */
const KEPT_BYTES = 2_000;

/** The executor asks it nothing. */
const registry = { name: "simulated" } as Registry;

export class FollowerProcess {
  readonly process: Process;
  readonly link: Link;
  readonly follower: Follower;
  readonly ended: Promise<void>;
  readonly name: string;
  readonly #world: FollowerWorld;
  readonly #executor: QueryExecutor;

  constructor(world: FollowerWorld, name: string, startedAt: number) {
    const { clock, network, log, limits, readWait, note } = world;
    this.#world = world;
    this.name = name;
    this.process = new Process(clock);
    const { signal, pause } = this.process;
    this.link = network.link(log, this.process);
    const read = world.readLog(this.link);
    this.follower = new Follower({
      log: read,
      // Monotonic, of this process.
      clock: () => clock.now - startedAt,
      pause,
      signal,
      onLost: (error) => note(`${name} lost the log: ${String(error)}`),
      onRecovered: () => note(`${name} reads the log again`),
      onTooLarge: (error) => note(`${name} has no room: ${error.reason}`),
      onNearlyFull: (share) => note(`${name} has ${share} of its heap in use`),
    });
    const freshness = {
      staleReason: () => staleReason(this.follower.status, limits),
      catchUp: () => this.follower.catchUp(readWait + ROUND_TRIP_MS),
    };
    const { follower } = this;
    const bodies = new Bodies({
      log: read,
      maxBytes: KEPT_BYTES,
      onMissing: world.lost,
      moveOn: () => follower.refresh(),
    });
    const reader: StoreReader = {
      read: (use) => follower.read(use),
      ids: (template) => follower.ids(template),
      bodies,
    };
    this.#executor = new QueryExecutor(registry, reader, freshness, () => clock.now);
    this.ended = this.follower.run();
  }

  /** Whether it runs and answers requests from its state. */
  get isServing(): boolean {
    if (this.process.signal.aborted || this.process.frozenFor > 0) return false;
    return staleReason(this.follower.status, this.#world.limits) === undefined;
  }

  /** Asks for a contract of a template by its id. `look` is run on the state that answers. */
  async request<T>(template: Template, contractId: string, look: (view: View) => T): Promise<Reply<T>> {
    let seen: Reply<T>["seen"];
    try {
      const answer = await this.#executor.execute((_registry, { view, hasReachedEnd }) => {
        const found = view.byId(template, contractId);
        const { now: at } = this.#world.clock;
        seen = { value: this.follower.read(look), at, hasReachedEnd };
        if (found === undefined) throw notFound(`contract ${contractId} is not known`);
        return found;
      });
      const give = await answer.takeBodies((contract) => [contract]);
      const encoded = give();
      const { createdEventBlob: blob } = bodyOf(encoded.value);
      encoded.usedBodies([encoded.value]);
      return { outcome: "found", seen, blob };
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      return error.reason === "not-found"
        ? { outcome: "not found", seen }
        : { outcome: "unavailable", seen: undefined };
    }
  }

  stop(): Promise<void> {
    this.process.kill();
    return this.ended;
  }
}
