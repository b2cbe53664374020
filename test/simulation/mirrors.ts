/** Processes that mirror the participant into the log, one at a time; src/ingest/leadership.ts, without a database. */
import { Decoder } from "../../src/ledger/decode.js";
import type { JsonValue } from "../../src/util/json.js";
import type { Template } from "../../src/domain/template.js";
import type { UpdateStream } from "../../src/ledger/participant/client.js";
import type { StalenessLimits } from "../../src/ingest/lag.js";
import { StoreUnavailable } from "../../src/state/port.js";
import { originOf } from "../../src/ingest/mirror.js";
import { mirrorOn } from "../ingest/mirror/run-mirror.js";
import type { Random } from "../ingest/database/random.js";
import type { ArrayLog } from "../state/array-log.js";
import { VirtualClient } from "./client.js";
import type { VirtualClock } from "./clock.js";
import type { Link, Network } from "./network.js";
import type { VirtualParticipant } from "./participant.js";
import { Process } from "./process.js";
import { operator } from "./script.js";

const RETRY_MS = 200;
const ACQUIRE_MS = 500;
const HEARTBEAT_MS = 1_000;
/** The log ends a session that is silent for this long. */
const SILENT_MS = 3_000;
/** The most that followers get to load a generation before it is served. */
const MAX_PREPARING_MS = 10_000;
/** A writer that hangs does not keep its process from the next term. */
const TERM_END_MS = 30_000;

export interface MirrorWorld {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly participant: VirtualParticipant;
  readonly network: Network;
  readonly log: ArrayLog;
  readonly templates: readonly Template[];
  readonly limits: StalenessLimits;
  readonly readWait: number;
  /** The packages that the snapshot of each generation left out. */
  readonly leftOut: Map<number, readonly string[]>;
  /** How long the next generation takes to be filled. */
  readonly fillMs: () => number;
  /** Called when a generation is filled and not served yet. */
  readonly onFilled: (mirror: MirrorProcess) => void;
  readonly note: (line: string) => void;
}

/** One term of leadership. */
class Term {
  readonly #end = new AbortController();
  readonly process: Process;
  epoch = 0;
  following: ReturnType<typeof mirrorOn> | undefined;
  client: VirtualClient | undefined;

  constructor(process: Process) {
    this.process = process;
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  readonly end = (): void => this.#end.abort();
}

/** Which term holds the lease. */
export class Lease {
  #term: Term | undefined;

  /** The term that has the lease; undefined if none has. */
  get term(): Term | undefined {
    const held = this.#term;
    if (held !== undefined && held.process.frozenFor > SILENT_MS) held.end();
    return held?.signal.aborted === true ? undefined : held;
  }

  tryAcquire(term: Term): boolean {
    if (this.term !== undefined) return false;
    this.#term = term;
    return true;
  }
}

export class MirrorProcess {
  readonly process: Process;
  readonly link: Link;
  readonly ended: Promise<void>;
  readonly #world: MirrorWorld;
  readonly #lease: Lease;
  readonly #name: string;

  constructor(world: MirrorWorld, lease: Lease, name: string) {
    this.#world = world;
    this.#lease = lease;
    this.#name = name;
    this.process = new Process(world.clock);
    this.link = world.network.link(world.log, this.process);
    this.ended = this.#run();
  }

  async #run(): Promise<void> {
    const { signal } = this.process;
    while (!signal.aborted) {
      await this.#hold();
      await this.process.pause(RETRY_MS);
    }
  }

  /** Waits for the lease, and runs one term. */
  async #hold(): Promise<void> {
    const { connection } = this.link;
    const term = new Term(this.process);
    connection.addEventListener("abort", term.end);
    try {
      while (!(await this.link.call(async () => this.#lease.tryAcquire(term)))) {
        await this.process.pause(ACQUIRE_MS);
        if (connection.aborted) return;
      }
      await this.#lead(term);
    } catch {
      // The log cannot be reached: it is tried again.
    } finally {
      term.end();
      connection.removeEventListener("abort", term.end);
    }
  }

  async #lead(term: Term): Promise<void> {
    const { clock, random, participant, log, templates, limits, readWait, leftOut, fillMs, onFilled, note } =
      this.#world;
    // A process that is killed, frozen or cut off writes nothing meanwhile.
    const wait = async (ms: number) => {
      await clock.pause(ms, term.signal);
      await this.process.awake();
      if (term.signal.aborted) throw new StoreUnavailable("the term has ended");
    };
    let filled = 0;
    const writer = await this.link.call(async () =>
      log.begin(() => originOf([operator], term.following?.mirror.lacking ?? []), {
        filling: () => wait((filled = fillMs())),
        preparing: async () => {
          onFilled(this);
          await wait(Math.min(filled, MAX_PREPARING_MS));
        },
      }),
    );
    if (term.signal.aborted) return;
    term.epoch = log.epoch;
    const client = new VirtualClient(participant, [operator], templates, term.signal);
    term.client = client;
    const recorded = {
      get checkpoint() {
        return writer.checkpoint;
      },
      apply: writer.apply.bind(writer),
      async replace(...args: Parameters<typeof writer.replace>) {
        await writer.replace(...args);
        leftOut.set(writer.generation ?? 0, client.requested);
      },
    };
    note(`${this.#name} leads at ${writer.checkpoint?.offset ?? "nothing"}`);
    const following = mirrorOn(
      gated(client, this.process),
      templates,
      limits,
      {
        writer: this.link.writer(recorded, term.end),
        readWait,
        now: () => clock.now,
        clock: () => clock.now,
        random: () => random.next(),
        pause: async (ms) => {
          await clock.pause(ms, term.signal);
          await this.process.awake();
        },
        signal: term.signal,
      },
      (line) => note(`${this.#name} ${line}`),
      new Decoder(templates, { countsSupply: true }),
    );
    term.following = following;
    log.onCatchUpRequest = (id) => void this.#catchUp(term, id);
    const { lag, running } = following;
    const heartbeats = async () => {
      while (!term.signal.aborted) {
        const { age } = lag.status;
        await this.link.call(() => writer.heartbeat(age, lag.otherHistory));
        await clock.pause(HEARTBEAT_MS, term.signal);
        await this.process.awake();
      }
    };
    await heartbeats().catch(term.end);
    await Promise.race([running, clock.sleep(TERM_END_MS)]);
    note(`${this.#name} leads no more`);
  }

  async #catchUp(term: Term, id: string): Promise<void> {
    await this.process.awake();
    try {
      for await (const progress of term.following?.mirror.catchUp() ?? []) {
        await this.process.awake();
        if (progress === "reached" && !term.signal.aborted) await this.link.call(() => this.#world.log.caughtUp(id));
      }
    } catch {
      // The wait of the follower is bounded.
    }
  }
}

/** What a client reads reaches a frozen process later. */
function gated(client: VirtualClient, process: Process): VirtualClient {
  const later = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } finally {
      await process.awake();
    }
  };
  const stream = (updates: UpdateStream): UpdateStream => ({
    get hasEnded() {
      return updates.hasEnded;
    },
    isResponsive: () => later(updates.isResponsive()),
    close: () => updates.close(),
    [Symbol.asyncIterator]: () => messages(updates),
  });
  async function* messages(updates: AsyncIterable<JsonValue>): AsyncGenerator<JsonValue> {
    for await (const message of updates) {
      await process.awake();
      yield message;
    }
    await process.awake();
  }
  const methods: Partial<VirtualClient> = {
    ledgerEnd: () => later(client.ledgerEnd()),
    prunedUpTo: () => later(client.prunedUpTo()),
    hasUpdate: (updateId) => later(client.hasUpdate(updateId)),
    findMissing: () => later(client.findMissing()),
    activeContracts: (offset) => messages(client.activeContracts(offset)),
    updates: async (after, upTo) => stream(await later(client.updates(after, upTo))),
  };
  return new Proxy(client, {
    get(target, name) {
      const method = (methods as Record<string | symbol, unknown>)[name];
      if (method !== undefined) return method;
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
