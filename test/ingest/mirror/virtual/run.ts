/** Runs a script against a mirror in virtual time, and says where the mirror served what it must not serve. */
import { setMaxListeners } from "node:events";
import { ScriptedLedger } from "../../../scripted-participant/ledger.js";
import { LedgerError } from "../../../../src/ledger/participant/errors.js";
import { refusal, withNulls } from "../../../scripted-participant/errors.js";
import { templates } from "../../../../src/registry/utility/templates.js";
import { MemoryStore } from "../../../../src/state/memory-store.js";
import type { StoreWriter } from "../../../../src/state/port.js";
import type { JsonObject } from "../../../../src/domain/json.js";
import { Random } from "../../database/random.js";
import { mirrorOn } from "../run-mirror.js";
import { VirtualClock } from "./clock.js";
import { VirtualClient } from "./client.js";
import { VirtualParticipant, type Wire } from "./participant.js";
import { isStored, type LedgerStep, operator, scriptOf, settle, type Step, type StreamFault, take } from "./script.js";
import { isEqual, type State, stateOf, Truth } from "./truth.js";

const PACKAGES = ["utility-registry-app-v0", "utility-registry-holding-v0"];
/** Those of the contracts in the scripts. */
const mirrored = templates.filter(({ qualifiedName }) =>
  /:(AllocationFactory|TransferOffer|Holding)$/.test(qualifiedName),
);

const LIMITS = { unreadyAfter: 10_000, staleAfter: 20_000 };
/** Longer than some round trips of the slowest participant. */
const READ_WAIT_MS = 10_000;
/** The longest backoff and the longest wait, several times. */
const RECOVERY_MS = 600_000;

/**
 * How often a state was served, and how often none was; how often a request that waited was told that the store has reached
 * the ledger's end, and how often not.
 */
const NONE = { served: 0, refused: 0, reached: 0, gaveUp: 0 };

export interface Outcome {
  /** Undefined if nothing was wrong. */
  readonly wrong: string | undefined;
  readonly logged: readonly string[];
  readonly counts: typeof NONE;
}

/** `seed` decides on delays and on the order of what happens at the same time. */
export async function run(script: readonly Step[], seed: number): Promise<Outcome> {
  const clock = new VirtualClock();
  const restore = clock.install();
  const running = new Run(clock, new Random(seed));
  try {
    return await running.through(script);
  } finally {
    await running.end();
    restore();
  }
}

class Run {
  readonly #clock: VirtualClock;
  readonly #random: Random;
  readonly #ledger = new ScriptedLedger();
  readonly #participant: VirtualParticipant;
  readonly #truth = new Truth(isStored);
  readonly #store = new MemoryStore();
  readonly #logged: string[] = [];
  readonly #start: number;
  #mirror: ReturnType<Run["startMirror"]>;
  /** What the store holds; undefined after a write. */
  #state: State | undefined;
  /** The packages that its last snapshot left out. */
  #leftOut: readonly string[] = [];
  readonly #counts = { ...NONE };
  #asks: Promise<void> = Promise.resolve();
  #wrong: string | undefined;

  constructor(clock: VirtualClock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    this.#start = clock.now;
    const checkpointMs = random.of([100, 30_000]);
    this.#participant = new VirtualParticipant(clock, random, this.#ledger, PACKAGES, checkpointMs);
    this.#record();
    const record = () => this.#record();
    this.#ledger.log.listen(record, () => undefined);
    this.#mirror = this.startMirror();
  }

  async through(script: readonly Step[]): Promise<Outcome> {
    for (const step of script) {
      if (this.#wrong !== undefined) break;
      if (step.do === "wait") await this.#advance(step.ms);
      else if (step.do === "kill") await this.#kill();
      else this.#do(step);
      this.#record();
    }
    if (this.#wrong === undefined) await this.#recover();
    return { wrong: this.#wrong, logged: this.#logged, counts: this.#counts };
  }

  async end(): Promise<void> {
    const stopped = this.#mirror.stop();
    // Waits end with their time limits.
    await this.#clock.advance(RECOVERY_MS, () => undefined);
    await stopped;
    await this.#asks;
  }

  startMirror() {
    const clock = this.#clock;
    const end = new AbortController();
    const { signal } = end;
    // As many as pauses and streams at once.
    setMaxListeners(0, signal);
    const client = new VirtualClient(this.#participant, [operator], mirrored, signal);
    const options = {
      writer: this.#writer(() => client.requested),
      readWait: READ_WAIT_MS,
      now: () => clock.now,
      clock: () => clock.now,
      random: () => this.#random.next(),
      pause: (ms: number) => clock.pause(ms, signal),
      signal,
    };
    const { mirror, lag, running } = mirrorOn(client, mirrored, LIMITS, options, (line) => this.#note(line));
    const stop = () => {
      end.abort();
      return running;
    };
    return { mirror, lag, client, stop };
  }

  /** The store, which takes a time to write. */
  #writer(requested: () => readonly string[]): StoreWriter {
    const store = this.#store;
    const leaveOut = () => {
      this.#leftOut = requested();
    };
    const written = async (write: () => Promise<void>) => {
      await this.#clock.sleep(this.#participant.latency());
      await write();
      this.#state = undefined;
    };
    return {
      get checkpoint() {
        return store.checkpoint;
      },
      replace: (...args) =>
        written(() => {
          leaveOut();
          return store.replace(...args);
        }),
      apply: (...args) => written(() => store.apply(...args)),
    };
  }

  #note(line: string): void {
    this.#logged.push(`${this.#clock.now - this.#start} ms: ${line}`);
  }

  async #kill(): Promise<void> {
    this.#note("kill");
    const stopped = this.#mirror.stop();
    const state = { isStopped: false };
    void stopped.then(() => {
      state.isStopped = true;
    });
    // Waits end with their time limits.
    for (let waited = 0; !state.isStopped && waited < RECOVERY_MS; waited += 1_000) {
      await this.#clock.advance(1_000, () => undefined);
    }
    await stopped;
    this.#mirror = this.startMirror();
  }

  #advance(ms: number): Promise<void> {
    return this.#clock.advance(ms, () => this.#check());
  }

  /** An answer of 200 must be of a state that the ledger had within the limit. */
  #check(): void {
    if (this.#wrong !== undefined) return;
    const { lag } = this.#mirror;
    if (lag.staleReason() !== undefined) {
      this.#counts.refused++;
      return;
    }
    this.#counts.served++;
    this.#state ??= this.#read();
    const { now } = this.#clock;
    if (this.#truth.hadWithin(LIMITS.staleAfter, now, this.#state, this.#leftOut)) return;
    this.#wrong = `at ${now - this.#start} ms it serves ${text(this.#state)}, and the ledger has ${text(this.#truth.now)}`;
  }

  /** A request waits. Once the end is reached the store must have a state that the ledger had since the request came. */
  #ask(): Promise<void> {
    const asked = this.#clock.now;
    const ask = async (): Promise<void> => {
      for await (const progress of this.#mirror.mirror.catchUp()) {
        if (progress === "advanced") continue;
        this.#counts.reached++;
        const { now } = this.#clock;
        const state = (this.#state ??= this.#read());
        if (this.#truth.hadWithin(now - asked, now, state, this.#leftOut)) return;
        this.#wrong ??= `at ${now - this.#start} ms the store has caught up for a request of ${asked - this.#start} ms with ${text(state)}, and the ledger has ${text(this.#truth.now)}`;
        return;
      }
      this.#counts.gaveUp++;
    };
    const asking = ask();
    this.#asks = Promise.all([this.#asks, asking]).then(() => undefined);
    return asking;
  }

  #read(): State {
    return this.#store.read((view) =>
      stateOf(
        mirrored
          .flatMap((template) => view.all(template))
          .map(({ contractId, synchronizerId, reassignmentCounter, template }) => {
            return { packageName: template.packageName, contractId, synchronizerId, reassignmentCounter };
          }),
      ),
    );
  }

  /** Once the faults are over, the mirror is ready and serves what the ledger has. */
  async #recover(): Promise<void> {
    const { callFaults, streamFaults, searchFaults, snapshotDelays, packageNames } = this.#participant;
    for (const faults of [callFaults, streamFaults, searchFaults, snapshotDelays]) faults.length = 0;
    for (const name of PACKAGES) packageNames.add(name);
    this.#participant.start();
    settle(this.#ledger);
    this.#record();
    this.#note("recover");
    const isRecovered = () => {
      const { lag, client } = this.#mirror;
      if (lag.notReadyReason() !== undefined || client.missing.length > 0) return false;
      return isEqual(this.#truth.now, (this.#state ??= this.#read()));
    };
    const begun = this.#clock.now;
    while (!isRecovered() && this.#wrong === undefined && this.#clock.now < begun + RECOVERY_MS)
      await this.#advance(500);
    if (this.#wrong !== undefined) return;
    if (isRecovered()) {
      // A connection that is dead may still be followed.
      for (
        const { reached } = { reached: this.#counts.reached };
        this.#counts.reached === reached && this.#wrong === undefined;
      ) {
        if (this.#clock.now > begun + RECOVERY_MS) this.#wrong = "it does not catch up for a request";
        void this.#ask();
        await this.#advance(READ_WAIT_MS + 1);
      }
      return;
    }
    const reason = this.#mirror.lag.notReadyReason() ?? `it serves ${text((this.#state ??= this.#read()))}`;
    this.#wrong = `${RECOVERY_MS} ms after the last fault: ${reason}; the ledger has ${text(this.#truth.now)}`;
  }

  #record(): void {
    this.#truth.record(this.#ledger, this.#participant.packageNames, this.#clock.now);
  }

  #do(step: Exclude<Step, { do: "wait" | "kill" }>): void {
    this.#note(JSON.stringify(step));
    const [ledger, participant] = [this.#ledger, this.#participant];
    switch (step.do) {
      case "ask":
        return void this.#ask();
      case "upload":
        return void PACKAGES.some((name) => !participant.packageNames.has(name) && participant.packageNames.add(name));
      case "stop":
      case "start":
        return participant[step.do]();
      case "clear":
        ledger.clear();
        for (const name of PACKAGES.slice(step.packages)) participant.packageNames.delete(name);
        return participant.cutAll();
      case "move":
        return this.#move(step);
      case "call":
        for (let count = 0; count < step.times; count++) participant.callFaults.push(step.fault);
        return;
      case "search":
        for (let count = 0; count < step.times; count++) participant.searchFaults.push(step.fault);
        return;
      case "slowSnapshot":
        return void participant.snapshotDelays.push(step.ms);
      case "stream":
        return this.#breakStream(step.fault, step.streams);
      default:
        if (this.#take(step) && step.do === "restore") participant.cutAll();
    }
  }

  #take(step: LedgerStep): boolean {
    return take(this.#ledger, step, (name) => this.#participant.packageNames.has(name));
  }

  #move({ to, creates }: Extract<Step, { do: "move" }>): void {
    for (const wire of this.#participant.wires) wire.die();
    if (to === "empty") this.#ledger.clear();
    else if (!this.#take({ do: "restore", share: 0.5 })) return;
    this.#participant.cutAll();
    for (let count = 0; count < creates; count++) this.#take({ do: "create", what: ["offer"] });
  }

  #breakStream(fault: StreamFault, streams: "open" | "next"): void {
    const faults: Readonly<Record<StreamFault, (wire: Wire) => void>> = {
      cut: (wire) => wire.end(new LedgerError("lost", "the stream was cut (close code 1006)")),
      error(wire) {
        wire.send(withNulls(refusal("SERVER_IS_SHUTTING_DOWN", "injected").error) as JsonObject);
        wire.end("closed");
      },
      // A finite stream that is closed early cannot be told from a whole one.
      close: (wire) => wire.end(wire.isFinite ? new LedgerError("lost", "cut") : "closed"),
      silence(wire) {
        wire.isSilent = true;
      },
      dead: (wire) => wire.die(),
      unreadable: (wire) => wire.send({ update: "nonsense" }),
    };
    const does = faults[fault];
    if (streams === "next") this.#participant.streamFaults.push(does);
    else for (const wire of this.#participant.wires) does(wire);
  }
}

const text = (state: State): string => JSON.stringify(Object.fromEntries(state));

/** Runs random scripts, one for each seed, and prints figures. */
export async function runAll(first: number, scripts: number) {
  const failed: string[] = [];
  const sums = { ...NONE };
  for (let seed = first; seed < first + scripts; seed++) {
    const { wrong, counts } = await run(scriptOf(seed), seed);
    for (const name of ["served", "refused", "reached", "gaveUp"] as const) sums[name] += counts[name];
    if (wrong !== undefined) failed.push(`seed ${seed}: ${wrong}`);
  }
  console.log(`${scripts} scripts from seed ${first}: ${JSON.stringify(sums)}, ${failed.length} failed`);
  return { failed, ...sums };
}
