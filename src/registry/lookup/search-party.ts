import type { StoreScan, View } from "../../store/port.js";
import type { PartyFindings, PartySearch, RequestContext } from "../sdk/registry.js";
import { PartyResults } from "./party-results.js";

export interface SearchOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Waits for some milliseconds; resolves early when the signal is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** Ends the search early. */
  readonly signal: AbortSignal;
}

/** Contracts of one step, in which no request is answered. The next step is smaller or larger by what it took. */
const FIRST_STEP = 25;
const MIN_STEP = 10;
const MAX_STEP = 200;
const LONG_MS = 5;
const SHORT_MS = 1;
/** A search uses at most a quarter of a processor: an operator waits for it. */
const REST_PER_CPU = 3;

/** Searches all contracts in short steps, with rests in between. Throws what a read throws. */
export async function searchParty(
  scan: StoreScan,
  searches: readonly PartySearch[],
  party: string,
  options: SearchOptions,
): Promise<PartyResults> {
  const results = new PartyResults();
  let size = FIRST_STEP;
  for (const search of searches) {
    // Steps follow each other.
    // oxlint-disable-next-line no-await-in-loop
    const { ids, isComplete } = await scan.ids(search.template);
    if (!isComplete) results.isComplete = false;
    for (let from = 0; from < ids.length;) {
      if (options.signal.aborted) {
        results.isComplete = false;
        return results;
      }
      const step = await runStep(scan, search, ids.slice(from, from + size), party, options);
      from += size;
      size = nextSize(size, step.longestMs);
      results.add(step.findings);
      await options.pause(step.cpuMs * REST_PER_CPU);
    }
  }
  return results;
}

function nextSize(size: number, longestMs: number): number {
  if (longestMs > LONG_MS) return Math.max(MIN_STEP, size >> 1);
  return longestMs < SHORT_MS ? Math.min(MAX_STEP, size * 2) : size;
}

/** `longestMs` is the longest run of a step: on a database it runs again after each query. */
async function runStep(
  scan: StoreScan,
  search: PartySearch,
  ids: readonly string[],
  party: string,
  { now }: SearchOptions,
): Promise<{ readonly findings: PartyFindings; readonly cpuMs: number; readonly longestMs: number }> {
  let cpuMs = 0;
  let longestMs = 0;
  const findings = await scan.read((view) => {
    const runAt = performance.now();
    try {
      view.prefetch(() => ids.map((contractId) => ({ template: search.template, contractId })));
      // Some may have been archived since they were listed.
      const contracts = ids.map((id) => view.byId(search.template, id)).filter((found) => found !== undefined);
      return search.find(searchContext(view, now()), contracts, party);
    } finally {
      const runMs = performance.now() - runAt;
      cpuMs += runMs;
      longestMs = Math.max(longestMs, runMs);
    }
  });
  return { findings, cpuMs, longestMs };
}

/** What is found is shown once, and not kept. */
const searchContext = (view: View, now: number): RequestContext => ({ view, now, mayChangeAt: () => undefined });
