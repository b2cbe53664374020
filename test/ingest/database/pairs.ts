/**
 * A ledger on which contracts belong together, and every state that it ever had:
 * a reader that sees the contracts of one pair from two updates has seen a state
 * that never existed. All expectations come from here.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "../../../src/util/json.js";
import { element, parties, payload, requirement } from "../../fixtures/elements.js";
import { creationsOf } from "../../scripted-participant/elements.js";
import { type Creation, ScriptedLedger } from "../../scripted-participant/ledger.js";
import type { Random } from "./random.js";

export const PAIRS = 6;
export const numbers: readonly number[] = Array.from({ length: PAIRS }, (_, pair) => pair);

/** What all contracts of a pair carry: how often it was replaced, and in which history of the ledger. */
export type Tag = `${number}.${number}`;

export interface State {
  readonly offset: number;
  /** By the number of the pair. */
  readonly tags: readonly Tag[];
  /** The tag of the single contract, which belongs to no pair. */
  readonly single: Tag;
  /** By `performance.now()`. */
  readonly since: number;
  /** Undefined while it is the state of the ledger. */
  until: number | undefined;
}

export const instrument = (pair: number): string => `I${pair}`;
export const holder = (pair: number): string => `holder-${pair}::1220`;
export const idsOf = (pair: number, tag: Tag) => ({
  configuration: `configuration-${pair}-${tag}`,
  credential: `credential-${pair}-${tag}`,
  offer: `offer-${pair}-${tag}`,
  locked: `locked-${pair}-${tag}`,
  holding: `holding-${pair}-${tag}`,
});
export const ruleOf = (tag: Tag): string => `rule-${tag}`;
/** What the holdings of a pair's instrument add up to: one is locked, and one is not. */
export const supplyOf = (tag: Tag): number => 2 * countOf(tag);
export const tagOf = (contractId: string): Tag => contractId.replace(/^.*-/, "") as Tag;

const countOf = (tag: Tag): number => Number(tag.split(".")[0]);

/** How often the ledger had been restored when a pair was replaced. */
export const historyOf = (tag: Tag): number => Number(tag.split(".")[1]);

/** The first time of the ledger; each offset is a second later. */
const BEGIN = Date.UTC(2026, 0, 5, 9);

/** The offset of an update by its time on the ledger; undefined for a time that is none of its updates'. */
export function offsetAt(time: string): number | undefined {
  const offset = Math.floor((Date.parse(time) - BEGIN) / 1000);
  return offset < 1_000_000 ? offset : undefined;
}

export class Pairs {
  /** One offset for each transaction, so that offsets and states are the same. */
  readonly ledger = new ScriptedLedger({
    offsetsPerTransaction: 1,
    clock: (offset) => new Date(BEGIN + offset * 1000),
  });
  /** Of all histories. */
  readonly #states = new Map<number, State[]>();
  /** By all tags of the pairs. */
  readonly #byTags = new Map<string, State[]>();
  /** Of the history that goes on, in the order of their offsets. */
  #lineage: State[] = [];
  #history = 0;

  /** `unchanging` is the number of additional contracts that never change. */
  constructor(unchanging: number) {
    const one = "1.0" as const;
    const whole = [
      element("AllocationFactory", "factory", payload.service()),
      element("RegistrarService", "service", payload.service({ enableResultContracts: true })),
      // Of the templates that only the reward entries need, which are off.
      element("AppRewardConfiguration", "reward", payload.reward()),
      element("FeaturedAppRight", "right", payload.right()),
    ];
    const held = Array.from({ length: unchanging }, (_, index) =>
      element("Holding", `stock-${index}`, payload.lockedHolding("keeper::1220", "STOCK")),
    );
    this.#commit(
      { tags: numbers.map(() => one), single: one },
      [],
      [...created([...whole, ...held]), ...rule(one), ...numbers.flatMap((pair) => contracts(pair, one))],
    );
  }

  get now(): State {
    const state = this.#lineage.at(-1);
    if (state === undefined) throw new Error("no state");
    return state;
  }

  /** How often the ledger was restored. */
  get restores(): number {
    return this.#history;
  }

  /** The states that the ledger had at an offset, one for each history. */
  at(offset: number): readonly State[] {
    return this.#states.get(offset) ?? [];
  }

  /** The states in which the pairs had these tags, in their order; none where they never had them at the same time. */
  having(tags: readonly Tag[]): readonly State[] {
    return this.#byTags.get(tags.join(" ")) ?? [];
  }

  /** Replaces all contracts of some pairs in one update. */
  replace(...pairs: readonly number[]): State {
    const { tags, single } = this.now;
    const next = tags.map((tag, pair) => (pairs.includes(pair) ? this.#next(tag) : tag));
    const gone = pairs.flatMap((pair) => Object.values(idsOf(pair, tags[pair] ?? "1.0")));
    const come = pairs.flatMap((pair) => contracts(pair, next[pair] ?? "1.0"));
    return this.#commit({ tags: next, single }, gone, come);
  }

  /** Replaces the single contract. */
  replaceSingle(): State {
    const { tags, single } = this.now;
    const next = this.#next(single);
    return this.#commit({ tags, single: next }, [ruleOf(single)], rule(next));
  }

  /** Forgets the updates so far. */
  prune(): void {
    this.ledger.prune(this.ledger.end);
  }

  /** Removes the last updates, like a restore from a backup. Never goes back before the pruned offset. */
  restore(by: number): void {
    const to = Math.max(this.ledger.end - by, this.ledger.pruned, 1);
    this.ledger.restore(to);
    this.#history++;
    const until = performance.now();
    for (const state of this.#lineage.splice(to)) state.until ??= until;
    this.now.until = undefined;
  }

  /** Commits one update after the other, until the signal is aborted. */
  async keepChanging(random: Random, pauseMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // Some come together, so that they may be applied in one step.
      const count = random.below(8) > 0 ? 1 : 2 + random.below(10);
      for (let done = 0; done < count; done++) this.change(random);
      await delay(pauseMs * count);
    }
  }

  /** Commits a random update. */
  change(random: Random): void {
    const pair = random.below(PAIRS);
    const sort = random.below(10);
    if (sort < 3) this.replaceSingle();
    else if (sort < 7) this.replace(pair);
    else if (sort < 9) this.replace(...new Set([pair, random.below(PAIRS), random.below(PAIRS)]));
    else this.#commit(this.now, [], undefined);
  }

  #next(tag: Tag): Tag {
    return `${countOf(tag) + 1}.${this.#history}`;
  }

  /** If `come` is undefined, the update has no visible events. */
  #commit({ tags, single }: Pick<State, "tags" | "single">, gone: readonly string[], come: Creation[] | undefined) {
    const { ledger } = this;
    const offset =
      come === undefined
        ? ledger.elsewhere()
        : ledger.transact([...gone.map((archive) => ({ archive })), ...come.map((create) => ({ create }))]);
    const since = performance.now();
    const before = this.#lineage.at(-1);
    if (before !== undefined) before.until = since;
    const state: State = { offset, tags, single, since, until: undefined };
    this.#lineage.push(state);
    this.#states.set(offset, [...this.at(offset), state]);
    this.#byTags.set(tags.join(" "), [...this.having(tags), state]);
    return state;
  }
}

function contracts(pair: number, tag: Tag): Creation[] {
  const ids = idsOf(pair, tag);
  const claim = `generation=${tag}`;
  const amount = countOf(tag).toFixed(10);
  const [who, what] = [holder(pair), instrument(pair)];
  const holderRequirements = [requirement([claim])];
  return created([
    element("InstrumentConfiguration", ids.configuration, payload.configuration(what, { holderRequirements })),
    element("Credential", ids.credential, payload.credential(who, [claim])),
    element("TransferOffer", ids.offer, payload.offer(who, who, what, ids.locked)),
    element("Holding", ids.locked, payload.lockedHolding(who, what, { amount })),
    element("Holding", ids.holding, payload.lockedHolding(who, what, { amount, lock: null })),
  ]);
}

const rule = (tag: Tag): Creation[] => created([element("TransferRule", ruleOf(tag), payload.service())]);

const created = (elements: readonly JsonObject[]): Creation[] =>
  creationsOf(elements).map((creation) => Object.assign(creation, { signatories: [parties.operator] }));
