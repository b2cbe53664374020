/** Whether an answer is right: whether the ledger had a state, among those that it may be of, that gives it. */
import { Code } from "@connectrpc/connect";
import type { JsonValue } from "../../src/domain/json.js";
import type { Outcome } from "../../test/fixtures/protocols.js";
import { type Expected, expected, namesOf } from "./expectation.js";
import type { Question } from "./queries.js";
import type { Troubles } from "./outages.js";
import type { World } from "./world.js";

/** The settings of the service that say how old an answer may be. */
export interface Promised {
  readonly staleMs: number;
  readonly readWaitMs: number;
}

/** What was known when a request was sent. */
export interface Sent {
  readonly time: number;
  /** The ledger's end. */
  readonly end: number;
  /** Up to where an answer had shown that the service has come. */
  readonly confirmed: number;
}

/** Characters of an answer that are told: most are all there, and none fills the screen. */
const MOST_TOLD = 6_000;
/** The service asks for the ledger's end every second, and that may take a while. */
const ASKING_MS = 3_000;

export class Judge {
  readonly #world: World;
  readonly #troubles: Troubles;
  readonly #promised: Promised;
  #confirmed: number;

  constructor(world: World, troubles: Troubles, promised: Promised) {
    this.#world = world;
    this.#troubles = troubles;
    this.#promised = promised;
    // The service is not there yet: whatever it shows is of now or later.
    this.#confirmed = world.end;
  }

  /** To be called right before a request is sent. */
  sent(): Sent {
    return { time: performance.now(), end: this.#world.end, confirmed: this.#confirmed };
  }

  /** To be called as soon as an answer is there: what is wrong with it, or undefined. */
  received(question: Question, outcome: Outcome, sent: Sent): string | undefined {
    const now = performance.now();
    const { staleMs, readWaitMs } = this.#promised;
    if (
      !outcome.ok &&
      outcome.code === Code.Unavailable &&
      outcome.message.startsWith("the ledger has not been reached")
    ) {
      const isDue = this.#troubles.wasBetween(sent.time, now, staleMs - ASKING_MS);
      return isDue ? undefined : `503, though the ledger was there: ${outcome.message}`;
    }
    // Never before what was confirmed, and never older than the limit of staleness.
    const low = Math.max(sent.confirmed, this.#world.endAt(sent.time - staleMs));
    // What is not known by its id is looked for up to the ledger's end, unless that takes too long or cannot be asked for.
    const isLookedFor = now - sent.time < readWaitMs && !this.#troubles.wasBetween(sent.time, now);
    const unknownFrom = isLookedFor ? sent.end : low;
    const shown = textOfOutcome(outcome);
    const offsets = this.#offsets(question, low, unknownFrom);
    const fitting = offsets.find((offset) => {
      const should = expected(this.#world, question, offset);
      const isEarly = !should.ok && should.isUnknown && offset < unknownFrom;
      return !isEarly && textsOf(should).includes(shown);
    });
    if (fitting === undefined) return this.#words(question, outcome, offsets.at(-1) ?? low, low);
    this.#confirmed = Math.max(this.#confirmed, fitting);
    return undefined;
  }

  /** The first offset, and each at which an answer may have changed, in ascending order. */
  #offsets(question: Question, low: number, unknownFrom: number): readonly number[] {
    const { contracts, offers, end } = this.#world;
    const names = namesOf(question);
    const offsets = new Set([low, unknownFrom, ...names.flatMap((name) => contracts.changes(name, low, end))]);
    if (question.sort === "choice") {
      for (const offset of offers.changes(question.contractId, low, end)) offsets.add(offset);
    }
    return [...offsets].toSorted((a, b) => a - b);
  }

  #words(question: Question, outcome: Outcome, offset: number, low: number): string {
    const should = textsOf(expected(this.#world, question, offset)).join(" or ");
    const is = outcome.ok ? textOfOutcome(outcome) : `${Code[outcome.code]} ${outcome.message}`;
    return `${JSON.stringify(question).slice(0, 200)}\n  was answered ${is.slice(0, MOST_TOLD)}\n  in place of ${should.slice(0, MOST_TOLD)} at ${offset}, or what was right from ${low} on`;
  }
}

const textOfOutcome = (outcome: Outcome): string => (outcome.ok ? canonical(outcome.answer) : Code[outcome.code]);
const textsOf = (should: Expected): string[] =>
  should.ok ? [canonical(should.answer)] : should.codes.map((code) => Code[code]);

/** The same text for what is the same: only the stability of the order of disclosed contracts is specified. */
function canonical(value: JsonValue): string {
  return JSON.stringify(value, (name: string, inner: unknown) => {
    if (Array.isArray(inner)) {
      if (name !== "disclosedContracts") return inner as unknown[];
      const texts = inner.map((one) => canonical(one as JsonValue));
      return texts.toSorted((a, b) => (a < b ? -1 : 1));
    }
    if (typeof inner !== "object" || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
