/** What answers must be: of a state that the ledger had, within the limit of staleness or since the request came. */
import type { Contract } from "../../src/domain/contract.js";
import type { StalenessLimits } from "../../src/ingest/lag.js";
import type { View } from "../../src/state/port.js";
import { templates } from "../../src/registry/utility/templates.js";
import { blobOf } from "../fixtures/elements.js";
import type { ScriptedLedger } from "../scripted-participant/ledger.js";
import type { ArrayLog, Committed } from "../state/array-log.js";
import type { FollowerProcess, Reply } from "./followers.js";
import type { Lease } from "./mirrors.js";
import { isStored } from "./script.js";
import { isEqual, type State, stateOf, Truth } from "./truth.js";

/** Those of the contracts in the scripts. */
export const mirrored = templates.filter(({ qualifiedName }) =>
  /:(AllocationFactory|TransferOffer|Holding)$/.test(qualifiedName),
);

function templateOf(contractId: string) {
  const name = { factory: "AllocationFactory", offer: "TransferOffer" }[contractId.split("-")[0] ?? ""] ?? "Holding";
  const template = mirrored.find(({ qualifiedName }) => qualifiedName.endsWith(`:${name}`));
  if (template === undefined) throw new Error(`no template of ${contractId}`);
  return template;
}

interface JudgeOptions {
  readonly now: () => number;
  readonly limits: StalenessLimits;
  /** The packages that the snapshot of each generation left out. */
  readonly leftOut: ReadonlyMap<number, readonly string[]>;
  /** The longest way of a message to the log, in milliseconds: a heartbeat is older by that than it says. */
  readonly maxLatency: () => number;
  /** Called with what is wrong. */
  readonly found: (wrong: string) => void;
}

/** A state, and the packages that its snapshot left out. */
interface Held {
  readonly state: State;
  readonly leftOut: readonly string[];
}

export class Judge {
  readonly #options: JudgeOptions;
  readonly #truth = new Truth(isStored);
  /** What each follower holds; absent after a move. */
  readonly #states = new Map<FollowerProcess, State>();
  #written: { readonly commit: Committed; readonly state: State } | undefined;
  readonly counts = { served: 0, refused: 0, found: 0, archived: 0, reached: 0, unavailable: 0 };

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  /** The ledger has changed. */
  record(ledger: ScriptedLedger, packageNames: ReadonlySet<string>): void {
    this.#truth.record(ledger, packageNames, this.#options.now());
  }

  moved(process: FollowerProcess): void {
    this.#states.delete(process);
  }

  checkFollower(process: FollowerProcess): void {
    if (!process.isServing) {
      this.counts.refused++;
      return;
    }
    this.counts.served++;
    const held = this.#held(process);
    if (!this.#isRecent(held)) this.#options.found(`${process.name} serves ${this.#against(held)}`);
  }

  /** A process that mirrors and answers has the state that it has written. */
  checkMirror({ term }: Lease, { latest, epoch }: ArrayLog): void {
    if (latest === undefined || term?.epoch !== epoch || term.following?.lag.staleReason() !== undefined) return;
    if (this.#written?.commit !== latest) {
      this.#written = { commit: latest, state: stateOf([...latest.contracts.values()].map(stored)) };
    }
    const { now, limits } = this.#options;
    const held = { state: this.#written.state, leftOut: this.#leftOut(latest.generation) };
    if (!this.#truth.hadWithin(limits.staleAfter, now(), held.state, held.leftOut))
      this.#options.found(`the mirror serves ${this.#against(held)}`);
  }

  /** Asks for a contract. Where there is none, the state must be one that the ledger had since the request came. */
  async ask(process: FollowerProcess, contractId: string): Promise<Reply<unknown>["outcome"]> {
    const asked = this.#options.now();
    const { outcome, seen, blob } = await process.request(templateOf(contractId), contractId, (view) => ({
      state: readState(view),
      leftOut: this.#leftOut(view.generation),
    }));
    if (outcome === "found" && blob !== blobOf(contractId))
      this.#options.found(`${process.name} has the body of another contract for ${contractId}`);
    if (outcome === "unavailable" || seen === undefined) {
      this.counts.unavailable++;
    } else if (outcome === "not found" && seen.hasReachedEnd) {
      this.counts.reached++;
      if (!this.#truth.hadWithin(seen.at - asked, seen.at, seen.value.state, seen.value.leftOut))
        this.#options.found(`${process.name} has caught up for ${contractId} with ${this.#against(seen.value)}`);
    } else {
      this.counts[outcome === "found" ? "found" : "archived"]++;
      if (!this.#isRecent(seen.value, seen.at))
        this.#options.found(`${process.name} answers from ${this.#against(seen.value)}`);
    }
    return outcome;
  }

  /** What a follower does not serve as the ledger has it now; undefined if it does. */
  lacking(process: FollowerProcess): string | undefined {
    if (!process.isServing) return `${process.name} does not serve`;
    const held = this.#held(process);
    return isEqual(this.#truth.now, held.state) ? undefined : `${process.name} has ${this.#against(held)}`;
  }

  #isRecent({ state, leftOut }: Held, at = this.#options.now()): boolean {
    const { limits, maxLatency } = this.#options;
    return (
      isEqual(this.#truth.now, state) || this.#truth.hadWithin(limits.staleAfter + maxLatency(), at, state, leftOut)
    );
  }

  #against({ state }: Held): string {
    return `${text(state)}, and the ledger has ${text(this.#truth.now)}`;
  }

  #held(process: FollowerProcess): Held {
    return process.follower.read((view) => {
      let state = this.#states.get(process);
      if (state === undefined) this.#states.set(process, (state = readState(view)));
      return { state, leftOut: this.#leftOut(view.generation) };
    });
  }

  #leftOut(generation: string | number): readonly string[] {
    return this.#options.leftOut.get(Number(generation)) ?? [];
  }
}

const readState = (view: View): State =>
  stateOf(mirrored.flatMap((template) => view.all(template)).map((contract) => stored(contract)));

const stored = ({ contractId, synchronizerId, reassignmentCounter, template }: Contract) => ({
  packageName: template.packageName,
  contractId,
  synchronizerId,
  reassignmentCounter,
});

const text = (state: State): string => JSON.stringify(Object.fromEntries(state));
