import type { StoreScan } from "../../store/port.js";
import { backgroundContext } from "../query-context.js";
import type { PartySearch } from "../sdk/registry.js";
import { StoreSteps } from "../store-steps.js";
import { PartyResults } from "./party-results.js";

export interface SearchOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Waits for some milliseconds; resolves early when the signal is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** Ends the search early. */
  readonly signal: AbortSignal;
}

const MAX_STEP = 200;
/** A search uses at most a quarter of a processor: an operator waits for it. */
const REST_PER_CPU = 3;

/** Searches all contracts in short steps, with rests in between. Throws what a read throws. */
export async function searchParty(
  scan: StoreScan,
  searches: readonly PartySearch[],
  party: string,
  { now, pause, signal }: SearchOptions,
): Promise<PartyResults> {
  const steps = new StoreSteps(scan, {
    maxStep: MAX_STEP,
    restPerCpu: REST_PER_CPU,
    restPerWait: 0,
    now,
    pause,
    signal,
  });
  const results = new PartyResults();
  for (const search of searches) {
    if (signal.aborted) break;
    const { ids, isComplete } = await scan.ids(search.template);
    if (!isComplete) results.isComplete = false;
    const found = steps.run(search.template, ids, (view, contracts, at) =>
      search.find(backgroundContext(view, at), contracts, party),
    );
    for await (const { result } of found) results.add(result);
  }
  if (signal.aborted) results.isComplete = false;
  return results;
}
