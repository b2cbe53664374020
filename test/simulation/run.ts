/**
 * Runs a script against a participant, two mirrors, a log and three followers in virtual time, and says where a follower
 * served what it must not serve, or did not serve what it must.
 */
import { createHash } from "node:crypto";
import type { StateLog } from "../../src/state/log.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Random } from "../ingest/database/random.js";
import { ArrayLog, type Committed, sumsOf } from "../state/array-log.js";
import { VirtualClock } from "./clock.js";
import { mend, takeAt } from "./faults.js";
import { FollowerProcess, type FollowerWorld } from "./followers.js";
import { Judge, mirrored } from "./judge.js";
import { Lease, MirrorProcess, type MirrorWorld } from "./mirrors.js";
import { Network } from "./network.js";
import { VirtualParticipant } from "./participant.js";
import { FOLLOWERS, isStored, MIRRORS, scriptOf, type ServiceStep, settle, type Step } from "./script.js";
import { Witness } from "./witness.js";

const PACKAGES = ["utility-registry-app-v0", "utility-registry-holding-v0"];
const LIMITS = { unreadyAfter: 10_000, staleAfter: 20_000 };
/** Longer than some round trips of the slowest participant. */
const READ_WAIT_MS = 10_000;
/** The longest backoff and the longest wait, several times. */
const RECOVERY_MS = 600_000;
const HOUR_MS = 3_600_000;
/** The supply of one holding. */
const HOLDING = 10n ** 10n;

/**
 * How often a state was served, and how often none was; what requests got, and how often not to find a contract was because it
 * was archived, or the ledger's end was reached; how many states were compared; how many clients resumed, and how many were
 * told that everything may have changed; how often a follower switched to a generation that it had loaded before, and how often
 * one was filled and given up.
 */
const NONE = {
  served: 0,
  refused: 0,
  found: 0,
  archived: 0,
  reached: 0,
  unavailable: 0,
  states: 0,
  resumed: 0,
  reset: 0,
  switched: 0,
  givenUp: 0,
};

export interface Outcome {
  /** Undefined if nothing was wrong. */
  readonly wrong: string | undefined;
  readonly logged: readonly string[];
  /** Of all that has happened. */
  readonly digest: string;
  readonly counts: typeof NONE;
}

/** What a test puts in between. */
interface RunOptions {
  /** The log as followers read it. */
  readonly readLog?: (log: StateLog) => StateLog;
}

/** `seed` decides on delays and on the order of what happens at the same time. */
export async function run(script: readonly Step[], seed: number, options: RunOptions = {}): Promise<Outcome> {
  const clock = new VirtualClock();
  const restore = clock.install();
  const running = new Run(clock, new Random(seed), options);
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
  readonly #network: Network;
  readonly #log: ArrayLog;
  readonly #lease = new Lease();
  readonly #witness: Witness;
  readonly #judge: Judge;
  readonly #world: MirrorWorld & FollowerWorld;
  readonly #mirrors: MirrorProcess[];
  readonly #followers: FollowerProcess[];
  #backup: ReturnType<ArrayLog["backup"]>;
  #clockSet = 0;
  /** After how many milliseconds another mirror starts. */
  readonly #killsAtSwap: number[] = [];
  readonly #generations = new Map<FollowerProcess, string | undefined>();
  #switched = 0;
  readonly #logged: string[] = [];
  readonly #digest = createHash("sha256");
  readonly #start: number;
  #ending: Promise<unknown> = Promise.resolve();
  #isMended = false;
  #isOver = false;
  #wrong: string | undefined;

  constructor(clock: VirtualClock, random: Random, { readLog = (log) => log }: RunOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#start = clock.now;
    this.#participant = new VirtualParticipant(clock, random, this.#ledger, PACKAGES, random.of([100, 30_000]));
    const network = new Network(clock, random);
    this.#network = network;
    this.#witness = new Witness(mirrored, new Random(random.below(2 ** 32)));
    this.#log = new ArrayLog({
      now: () => clock.now + this.#clockSet,
      deliver: (notice) => network.deliver(notice),
      onCommit: (commit, before) => this.#witness.committed(commit, before),
    });
    this.#backup = this.#log.backup();
    this.#world = {
      clock,
      random,
      participant: this.#participant,
      network,
      log: this.#log,
      templates: mirrored,
      limits: LIMITS,
      readWait: READ_WAIT_MS,
      leftOut: new Map(),
      readLog,
      lost: (ids) => this.#found(`the log has lost the bodies of ${ids.join(", ")}`),
      fillMs: () => random.below(this.#isMended ? 10 : random.of([10, 1_000, 30_000])),
      onFilled: (mirror) => this.#filled(mirror),
      note: (line) => this.#note(line),
    };
    this.#judge = new Judge({
      now: () => clock.now,
      limits: LIMITS,
      leftOut: this.#world.leftOut,
      maxLatency: () => network.maxLatency,
      found: (wrong) => this.#found(wrong),
    });
    this.#record();
    this.#ledger.log.listen(
      () => this.#record(),
      () => undefined,
    );
    this.#mirrors = Array.from({ length: MIRRORS }, (_, index) => this.#startMirror(index));
    this.#followers = Array.from({ length: FOLLOWERS }, (_, index) => this.#startFollower(index));
  }

  async through(script: readonly Step[]): Promise<Outcome> {
    for (const step of script) {
      if (this.#wrong !== undefined) break;
      if (step.do === "wait") await this.#advance(step.ms);
      else this.#take(step);
      this.#record();
    }
    if (this.#wrong === undefined) await this.#recover();
    const counts = {
      ...this.#judge.counts,
      ...this.#witness.counts,
      switched: this.#switched,
      givenUp: this.#log.givenUp,
    };
    return { wrong: this.#wrong, logged: this.#logged, digest: this.#digest.digest("hex"), counts };
  }

  async end(): Promise<void> {
    this.#isOver = true;
    for (const { process, ended } of [...this.#mirrors, ...this.#followers]) {
      process.kill();
      this.#await(ended);
    }
    // Waits end with their time limits.
    await this.#clock.advance(RECOVERY_MS, () => undefined);
    await this.#ending;
  }

  #startMirror(index: number): MirrorProcess {
    return new MirrorProcess(this.#world, this.#lease, `mirror ${index}`);
  }

  #startFollower(index: number): FollowerProcess {
    const started = new FollowerProcess(this.#world, `follower ${index}`, this.#random.below(1_000_000));
    started.follower.changes.subscribe(() => this.#moved(started));
    return started;
  }

  /** Follows each move of a follower, also of one that is not served because it is too old. */
  #moved(process: FollowerProcess): void {
    this.#judge.moved(process);
    const { follower, name } = process;
    const { changes } = follower;
    const generation = changes.position?.generation;
    if (generation !== this.#generations.get(process) && generation === String(process.link.prepared)) this.#switched++;
    this.#generations.set(process, generation);
    const isOfLedger = ({ offset, updateId }: Committed) =>
      updateId !== undefined && this.#ledger.log.at(offset)?.updateId === updateId;
    const wrong = follower.read((view) => this.#witness.moved(view, changes, isOfLedger));
    this.#note(`${name} is at ${changes.position?.generation} ${changes.position?.offset}`);
    if (wrong !== undefined) this.#found(`${name}: ${wrong}`);
  }

  #note(line: string): void {
    const noted = `${this.#clock.now - this.#start} ms: ${line}`;
    this.#logged.push(noted);
    this.#digest.update(noted);
  }

  #found(wrong: string): void {
    this.#wrong ??= `at ${this.#clock.now - this.#start} ms ${wrong}`;
  }

  #await(promise: Promise<unknown>): void {
    this.#ending = Promise.all([this.#ending, promise]);
  }

  #advance(ms: number): Promise<void> {
    return this.#clock.advance(ms, () => this.#check());
  }

  #check(): void {
    if (this.#wrong !== undefined) return;
    for (const process of this.#followers) this.#judge.checkFollower(process);
    this.#judge.checkMirror(this.#lease, this.#log);
  }

  async #ask(process: FollowerProcess, contractId: string): Promise<string> {
    const outcome = await this.#judge.ask(process, contractId);
    this.#note(`${process.name} says of ${contractId}: ${outcome}`);
    return outcome;
  }

  /** Once the faults are over, every follower serves what the ledger has, and finds each contract. */
  async #recover(): Promise<void> {
    mend(this.#participant, PACKAGES);
    this.#network.mend();
    this.#killsAtSwap.length = 0;
    this.#isMended = true;
    for (const { process } of [...this.#mirrors, ...this.#followers]) process.thaw();
    settle(this.#ledger);
    this.#record();
    this.#note("recover");
    const begun = this.#clock.now;
    for (let lacking = this.#lacking(); lacking !== undefined; lacking = this.#lacking()) {
      if (this.#clock.now > begun + RECOVERY_MS) this.#found(`${RECOVERY_MS} ms after the last fault: ${lacking}`);
      if (this.#wrong !== undefined) return;
      await this.#advance(500);
    }
    for (const process of this.#followers) await this.#findAll(process);
    const holdings = [...this.#ledger.contracts.keys()].filter((id) => /^(locked|free)-/.test(id)).length;
    const { latest } = this.#log;
    const sums = latest === undefined ? [] : [...sumsOf(latest).values()];
    if (sums.reduce((sum, one) => sum + one, 0n) !== BigInt(holdings) * HOLDING)
      this.#found(`the supply of ${holdings} holdings is ${sums.join(", ")}`);
  }

  /** What is not as it should be yet; undefined if everything is. */
  #lacking(): string | undefined {
    const term = this.#lease.term;
    if (term?.following === undefined || term.client === undefined) return "no mirror leads";
    const reason = term.following.mirror.notReadyReason();
    if (reason !== undefined) return `the mirror is not ready: ${reason}`;
    if (term.client.missing.length > 0) return `${term.client.missing.join(", ")} are missing`;
    return this.#followers.map((process) => this.#judge.lacking(process)).find((lacking) => lacking !== undefined);
  }

  async #findAll(process: FollowerProcess): Promise<void> {
    const find = async (contractId: string) => {
      let outcome = await this.#ask(process, contractId);
      // After a switch to a log without heartbeats it answers nothing until the next.
      for (let tries = 0; outcome === "unavailable" && tries < 5; tries++) {
        await this.#clock.sleep(500);
        outcome = await this.#ask(process, contractId);
      }
      if (outcome !== "found") this.#found(`${process.name} says of ${contractId}: ${outcome}`);
    };
    const all = [...this.#ledger.contracts.keys()].filter(isStored).map(find);
    // Their bodies are on the way.
    await this.#advance(READ_WAIT_MS);
    await Promise.all(all);
    // A connection that is dead may still be followed.
    const begun = this.#clock.now;
    const asking = { outcome: "unavailable" };
    while (asking.outcome !== "not found" && this.#wrong === undefined) {
      if (this.#clock.now > begun + RECOVERY_MS) return this.#found(`${process.name} does not catch up for a request`);
      const asked = this.#ask(process, "offer-never").then((outcome) => (asking.outcome = outcome));
      await this.#advance(READ_WAIT_MS + 1_000);
      await asked;
    }
  }

  #record(): void {
    this.#judge.record(this.#ledger, this.#participant.packageNames);
  }

  #take(step: Exclude<Step, { do: "wait" }>): void {
    this.#note(JSON.stringify(step));
    switch (step.do) {
      case "ask":
      case "kill":
      case "killAtSwap":
      case "freeze":
      case "cut":
      case "slowLog":
      case "stopLog":
      case "deafen":
      case "backUpLog":
      case "restoreLog":
      case "trimLog":
      case "setClock":
        return this.#serve(step);
      default:
        takeAt(this.#participant, PACKAGES, step);
    }
  }

  #serve(step: ServiceStep): void {
    const [log, network, clock] = [this.#log, this.#network, this.#clock];
    switch (step.do) {
      case "ask": {
        const process = this.#followers[step.follower];
        if (process === undefined || process.process.signal.aborted || process.process.frozenFor > 0) return;
        return this.#await(this.#ask(process, this.#anyId(step.which)));
      }
      case "kill":
        return this.#kill(step.process, step.ms);
      case "killAtSwap":
        return void this.#killsAtSwap.push(step.ms);
      case "freeze":
        return this.#processAt(step.process)?.process.freeze(step.ms);
      case "cut":
        return this.#processAt(step.process)?.link.cut(step.ms);
      case "slowLog":
        return network.slow(step.ms, step.forMs);
      case "deafen":
        network.deafUntil = clock.now + step.ms;
        return;
      case "backUpLog":
        this.#backup = log.backup();
        return;
      case "stopLog":
      case "restoreLog":
        network.stop();
        if (step.do === "restoreLog") log.restore(this.#backup);
        clock.after(step.ms, () => network.start());
        return;
      case "trimLog":
        return log.trim(log.commits[Math.floor(log.commits.length * step.share)]?.offset ?? 0);
      case "setClock":
        this.#clockSet += step.hours * HOUR_MS;
        return;
    }
  }

  /** A contract of the ledger, the latest of it, one that was archived, or one that never was. */
  #anyId(which: number): string {
    const stored = [...this.#ledger.contracts.keys()].filter(isStored);
    const archived = [...(this.#log.latest?.archived.keys() ?? [])].filter(isStored);
    const ids = [
      stored[which % Math.max(1, stored.length)],
      stored.at(-1),
      archived[which % Math.max(1, archived.length)],
    ];
    return ids[which % 4] ?? "offer-never";
  }

  #processAt(index: number): MirrorProcess | FollowerProcess | undefined {
    return [...this.#mirrors, ...this.#followers][index];
  }

  #filled(mirror: MirrorProcess): void {
    const ms = this.#killsAtSwap.shift();
    if (ms !== undefined) this.#kill(this.#mirrors.indexOf(mirror), ms);
  }

  #kill(index: number, ms: number): void {
    const killed = this.#processAt(index);
    if (killed === undefined || killed.process.signal.aborted) return;
    killed.process.kill();
    this.#await(killed.ended);
    this.#clock.after(ms, () => {
      if (this.#isOver) return;
      if (index < MIRRORS) this.#mirrors[index] = this.#startMirror(index);
      else this.#followers[index - MIRRORS] = this.#startFollower(index - MIRRORS);
    });
  }
}

export interface Failure {
  readonly seed: number;
  readonly wrong: string;
  readonly logged: readonly string[];
}

export const describeFailure = ({ seed, wrong, logged }: Failure): string =>
  `seed ${seed}: ${wrong}\n  ${logged.join("\n  ")}`;

/** Runs random scripts, one for each seed. */
export async function runAll(first: number, seeds: number, options: RunOptions = {}, maxFailures = seeds) {
  const failed: Failure[] = [];
  const sums = { ...NONE };
  let seed = first;
  for (; seed < first + seeds && failed.length < maxFailures; seed++) {
    const { wrong, logged, counts } = await run(scriptOf(seed), seed, options);
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += counts[name];
    if (wrong !== undefined) failed.push({ seed, wrong, logged });
  }
  return { failed, ran: seed - first, counts: sums };
}
