/** A response is right if the ledger had a state that gives it, among the states that the service may serve. */
import { Code } from "@connectrpc/connect";
import type { JsonValue } from "../../src/domain/json.js";
import type { Outcome } from "../fixtures/protocols.js";
import { type ExpectedOutcome, expectOutcome, listSlots } from "./expectation.js";
import type { Query } from "./queries.js";
import type { World } from "./world.js";

/** Times are by `performance.now()`. */
interface Outage {
  readonly from: number;
  until: number | undefined;
}

/** For the service to recover: it retries every 10 s at most, and may need a new snapshot. */
const RECOVERY_MS = 25_000;
/** An outage that begins so soon after another is one with it: the service has not reached the ledger in between. */
const RETRY_MS = 10_000;
const KEPT_MS = 150_000;

export class OutageLog {
  readonly #outages: Outage[] = [];

  begin(): () => void {
    const now = performance.now();
    while (this.#outages[0]?.until !== undefined && this.#outages[0].until < now - KEPT_MS) this.#outages.shift();
    const last = this.#outages.at(-1);
    const isOne = last !== undefined && now < (last.until ?? now) + RETRY_MS;
    const outage: Outage = { from: isOne ? last.from : now, until: undefined };
    this.#outages.push(outage);
    return () => {
      outage.until = performance.now();
    };
  }

  describe(now: number): string {
    const times = this.#outages.slice(-3).map(({ from, until }) => {
      const end = until === undefined ? "still" : `until ${Math.round((now - until) / 1000)} s ago`;
      return `from ${Math.round((now - from) / 1000)} s ago, ${end}`;
    });
    return `the last outages: ${times.join("; ")}`;
  }

  /** Whether an outage, or the recovery from it, overlaps with the time span. Ignores the first `minAgeMs` of an outage. */
  overlaps(from: number, to: number, minAgeMs = 0): boolean {
    return this.#outages.some(
      ({ from: begin, until = to }) => begin + minAgeMs <= to && Math.max(until, begin) + RECOVERY_MS >= from,
    );
  }
}

export interface StalenessBounds {
  readonly staleMs: number;
  readonly readWaitMs: number;
}

export interface SentState {
  readonly time: number;
  readonly end: number;
  /** The latest offset that an earlier response proved to be applied. */
  readonly confirmed: number;
}

const MAX_SHOWN = 6_000;
/** The service reads the ledger end every second, which may take a while: on a busy machine several delays. */
const POLL_TOLERANCE_MS = 3_000;
const TOLERATED_DELAYS = 5;

export class Oracle {
  readonly #world: World;
  readonly #outages: OutageLog;
  readonly #bounds: StalenessBounds;
  #confirmed: number;
  #toleranceMs = POLL_TOLERANCE_MS;

  constructor(world: World, outages: OutageLog, bounds: StalenessBounds) {
    this.#world = world;
    this.#outages = outages;
    this.#bounds = bounds;
    // The service starts later, so its first snapshot is not older.
    this.#confirmed = world.end;
  }

  /** Call it with the time of a response that waits for nothing: it says how busy the machine is. */
  recordDelay(milliseconds: number): void {
    this.#toleranceMs = Math.max(this.#toleranceMs, POLL_TOLERANCE_MS + TOLERATED_DELAYS * milliseconds);
  }

  /** Call it right before a request is sent. */
  recordSent(): SentState {
    return { time: performance.now(), end: this.#world.end, confirmed: this.#confirmed };
  }

  /** Call it as soon as the response has arrived. Returns what is wrong with it, or undefined. */
  check(query: Query, outcome: Outcome, sent: SentState): string | undefined {
    const now = performance.now();
    const { staleMs, readWaitMs } = this.#bounds;
    if (isStaleRejection(outcome)) {
      const tolerance = this.#toleranceMs;
      const isAllowed = this.#outages.overlaps(sent.time - tolerance, now, staleMs - tolerance);
      return isAllowed ? undefined : `503 without an outage: ${outcome.message}; ${this.#outages.describe(now)}`;
    }
    if (isWaitRejection(outcome)) {
      const isAllowed = now - sent.time >= readWaitMs || this.#outages.overlaps(sent.time, now);
      return isAllowed ? undefined : `503 for an unknown contract after ${Math.round(now - sent.time)} ms`;
    }
    // Not older than a confirmed offset, nor than the staleness limit.
    const low = Math.max(sent.confirmed, this.#world.endAt(sent.time - staleMs));
    // For an unknown id the service waits for the ledger end, unless that takes too long or there is an outage.
    const waitsForEnd = now - sent.time < readWaitMs && !this.#outages.overlaps(sent.time, now);
    const unknownFrom = waitsForEnd ? sent.end : low;
    const actual = serializeOutcome(outcome);
    const offsets = this.#candidateOffsets(query, low, unknownFrom);
    const match = offsets.find((offset) => {
      const expected = expectOutcome(this.#world, query, offset);
      const isTooEarly = !expected.ok && expected.isUnknown && offset < unknownFrom;
      return !isTooEarly && serializeExpected(expected) === actual;
    });
    if (match === undefined) return this.#describeMismatch(query, outcome, offsets.at(-1) ?? low, low);
    this.#confirmed = Math.max(this.#confirmed, match);
    return undefined;
  }

  /** Whether a response is that of one state. Returns what is wrong with it, or undefined. */
  checkAt(query: Query, outcome: Outcome, offset: number): string | undefined {
    const expected = expectOutcome(this.#world, query, offset);
    if (serializeExpected(expected) === serializeOutcome(outcome)) return undefined;
    return this.#describeMismatch(query, outcome, offset, offset);
  }

  /** The first offset, and each at which the response may have changed, in ascending order. */
  #candidateOffsets(query: Query, low: number, unknownFrom: number): readonly number[] {
    const { contracts, offers, end } = this.#world;
    const changes = listSlots(query).flatMap((slot) => contracts.changes(slot, low, end));
    const offsets = new Set([low, unknownFrom, ...changes]);
    if (query.kind === "choice") {
      for (const offset of offers.changes(query.contractId, low, end)) offsets.add(offset);
    }
    return [...offsets].toSorted((a, b) => a - b);
  }

  #describeMismatch(query: Query, outcome: Outcome, offset: number, low: number): string {
    const expected = serializeExpected(expectOutcome(this.#world, query, offset));
    const actual = outcome.ok ? serializeOutcome(outcome) : `${Code[outcome.code]} ${outcome.message}`;
    return `${JSON.stringify(query).slice(0, 200)}\n  response ${actual.slice(0, MAX_SHOWN)}\n  expected ${expected.slice(0, MAX_SHOWN)} at offset ${offset}, or the response of a state since ${low}`;
  }
}

/** Rejected because the ledger was not reachable for too long (src/ingest/staleness.ts). */
const isStaleRejection = (outcome: Outcome): outcome is Outcome & { readonly ok: false } =>
  !outcome.ok && outcome.code === Code.Unavailable && STALE_MESSAGE.test(outcome.message);

/** Rejected because the ledger's end was not reached within the wait of read-your-writes. */
const isWaitRejection = (outcome: Outcome): boolean =>
  !outcome.ok && outcome.code === Code.Unavailable && outcome.message.startsWith("the request names a contract");

const STALE_MESSAGE = /^the ledger has not been reached/;

const serializeOutcome = (outcome: Outcome): string => (outcome.ok ? canonicalize(outcome.answer) : Code[outcome.code]);
const serializeExpected = (expected: ExpectedOutcome): string =>
  expected.ok ? canonicalize(expected.answer) : Code[expected.code];

/** JSON with sorted keys. The order of disclosed contracts is not specified, so they are sorted too. */
function canonicalize(value: JsonValue): string {
  return JSON.stringify(value, (name: string, inner: unknown) => {
    if (Array.isArray(inner)) {
      if (name !== "disclosedContracts") return inner as unknown[];
      const contracts = inner.map((contract) => canonicalize(contract as JsonValue));
      return contracts.toSorted((a, b) => (a < b ? -1 : 1));
    }
    if (typeof inner !== "object" || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
