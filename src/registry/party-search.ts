import type { Contract } from "../domain/contract.js";
import { refuse, unavailable } from "../domain/errors.js";
import { NotReady, type StoreReader } from "../state/port.js";
import { abortablePause, abortAfter } from "../util/async.js";
import { backgroundContext, type StepLimits, StoreSteps } from "./background.js";
import type {
  ChoiceCall,
  FoundCredential,
  FoundInstruction,
  FoundPreapproval,
  PartyFindings,
  PartySearch,
  Registry,
  RequestContext,
} from "./sdk/registry.js";

/** Of each list. */
const MAX_LISTED = 200;

/** Collects what a search has found, up to a bound. */
export class PartyResults {
  readonly credentials: FoundCredential[] = [];
  readonly preapprovals: FoundPreapproval[] = [];
  readonly instructions: FoundInstruction[] = [];
  /** Whether everything was searched, and what was found fits. */
  isComplete = true;

  add({ credentials = [], preapprovals = [], instructions = [] }: PartyFindings): void {
    this.#append(this.credentials, credentials);
    this.#append(this.preapprovals, preapprovals);
    this.#append(this.instructions, instructions);
  }

  #append<T>(list: T[], found: readonly T[]): void {
    const room = MAX_LISTED - list.length;
    list.push(...found.slice(0, room));
    if (found.length > room) this.isComplete = false;
  }
}

const MAX_STEP = 200;
/** A search uses at most a quarter of a processor: an operator waits for it. */
const REST_PER_CPU = 3;

/** Searches all contracts in short steps, with rests in between. Throws what a read throws. */
async function searchParty(
  store: StoreReader,
  searches: readonly PartySearch[],
  party: string,
  times: Pick<StepLimits, "now" | "pause" | "signal">,
): Promise<PartyResults> {
  const { signal } = times;
  const steps = new StoreSteps(store, { ...times, maxStep: MAX_STEP, restPerCpu: REST_PER_CPU });
  const results = new PartyResults();
  for (const search of searches) {
    if (signal.aborted) break;
    const found = steps.run(search.template, store.ids(search.template), (view, contracts, at) =>
      search.find(backgroundContext(view, at), contracts, party),
    );
    for await (const { result } of found) results.add(result);
  }
  if (signal.aborted) results.isComplete = false;
  return results;
}

export interface PartySearcherOptions {
  readonly searches: readonly PartySearch[];
  readonly reader: StoreReader;
  /** Why nothing must be answered from the store; undefined if it may be. */
  readonly staleReason: () => string | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Of one search; 10 s by default. */
  readonly maxMs?: number;
}

const MAX_MS = 10_000;
const MAX_WAITING = 4;

/** Searches for what concerns a party: one search at a time, each for a bounded time. */
export class PartySearcher {
  /** Settles when the latest search has, and never rejects. */
  #latest: Promise<unknown> = Promise.resolve();
  /** Searches that run or wait. */
  #count = 0;
  readonly #end = new AbortController();

  constructor(private readonly options: PartySearcherOptions) {}

  /** Rejects with "unavailable" where too many searches wait, or the store cannot answer. */
  async search(party: string): Promise<PartyResults> {
    if (this.#count > MAX_WAITING) {
      throw refuse("overloaded", "too many searches for parties are waiting");
    }
    this.#count++;
    const results = this.#latest.then(() => this.#run(party)).finally(() => this.#count--);
    this.#latest = results.catch(() => undefined);
    return results;
  }

  /** Ends the searches, those that wait too: they are incomplete. */
  close(): void {
    this.#end.abort();
  }

  async #run(party: string): Promise<PartyResults> {
    const { searches, reader, staleReason, now, maxMs = MAX_MS } = this.options;
    const reason = staleReason();
    if (reason !== undefined) throw unavailable(reason);
    try {
      return await abortAfter(maxMs, this.#end.signal, (signal) =>
        searchParty(reader, searches, party, { now, pause: abortablePause(signal), signal }),
      );
    } catch (error) {
      if (error instanceof NotReady) throw unavailable(error.message);
      throw error;
    }
  }
}

/** What is known of a contract id. */
export interface FoundContract {
  /** Undefined if it is in the store by no template. */
  readonly contract: Contract | undefined;
  readonly isArchived: boolean;
  /** The requests about the contract. */
  readonly calls: readonly ChoiceCall[];
}

/** A contract of any template of the registry, and of any registrar. */
export function findContract(
  { templates, lookup }: Registry,
  { view }: RequestContext,
  contractId: string,
): FoundContract {
  for (const template of templates) {
    const contract = view.byId(template, contractId);
    if (contract !== undefined) return { contract, isArchived: false, calls: lookup?.choices(contract) ?? [] };
  }
  return { contract: undefined, isArchived: view.wasArchived(contractId), calls: [] };
}
