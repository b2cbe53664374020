import { invalidField, refuse } from "../domain/errors.js";
import { parseJsonText } from "../util/json.js";
import type { Result, QueryExecutor } from "./executor.js";
import type { Recording } from "./recorder.js";
import { withoutVersion2, withPackages } from "../registry/sdk/apis.js";
import type { Instrument, Registry, RequestContext, SupportedApis, Supply } from "../registry/sdk/registry.js";

/** What the operator configures for an instrument that has no value on the ledger. */
interface InstrumentOverrides extends Pick<Instrument, "name" | "symbol" | "decimals" | "description">, WalletHints {
  /** Whether version 2 of the token standard is not listed. */
  readonly hideVersion2?: boolean | undefined;
}

/** What only the operator says, for wallets. */
interface WalletHints {
  /** Shown while the instrument is paused. */
  readonly pauseInfo?: PauseInfo | undefined;
  readonly showAccountInputFields?: boolean | undefined;
  /** Each once. */
  readonly accountInputFieldsToShow?: readonly ("provider" | "accountId")[] | undefined;
}

interface PauseInfo {
  readonly reason?: string | undefined;
  /** RFC 3339 in UTC. */
  readonly until?: string | undefined;
}

/** By registrar and instrument id; ALL_INSTRUMENTS is what concerns the registrar. */
export type OverridesByInstrument = ReadonlyMap<string, ReadonlyMap<string, InstrumentOverrides>>;

export const ALL_INSTRUMENTS = "*";

/** An instrument with everything that a wallet shows. */
export interface ListedInstrument extends WalletHints {
  readonly id: string;
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly description: string | undefined;
  readonly paused: boolean;
  readonly supply: Supply | undefined;
  readonly supportedApis: SupportedApis;
}

export interface Page {
  readonly instruments: readonly ListedInstrument[];
  /** Requests the next page; undefined on the last page. */
  readonly nextPageToken: string | undefined;
}

const DEFAULT_DECIMALS = 10;
const DEFAULT_PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 1_000;

/** Maximum number of elements on a page, for the size that a request asks for. */
export const pageSize = (requested = DEFAULT_PAGE_SIZE): number => Math.min(requested, MAX_PAGE_SIZE);

/** Lists the instruments of a registry, with overrides for what the ledger does not say. */
export class InstrumentDirectory {
  /** Of the latest state: wallets ask for them more often than they change. */
  #listed: { readonly generation: string; readonly offset: number; readonly byRegistrar: Map<string, Listed> } = {
    generation: "",
    offset: 0,
    byRegistrar: new Map(),
  };

  /** `countsHoldings`: whether the store counts holdings, which the total supply needs. */
  constructor(
    private readonly executor: QueryExecutor,
    private readonly overrides: OverridesByInstrument,
    private readonly countsHoldings: boolean,
  ) {}

  /** Sorted by id. The token has the last id of the previous page: added or removed instruments do not shift others. */
  page(registrar: string, size?: number, token = "", recording?: Recording): Result<Page> | Promise<Result<Page>> {
    const after = token === "" ? undefined : readPageToken(token, registrar);
    const paged = (registry: Registry, context: RequestContext, { sorted: all }: Listed): Page => {
      const rest = after === undefined ? all : all.filter(({ id }) => id > after);
      const page = rest.slice(0, pageSize(size));
      const last = page.at(-1);
      const isLast = last === undefined || page.length === rest.length;
      return {
        instruments: this.#complete(registry, context, registrar, page),
        nextPageToken: isLast ? undefined : createPageToken(registrar, last.id),
      };
    };
    return this.#execute(registrar, paged, recording);
  }

  /** The APIs that wallets may use of a registrar. Throws "not-found" if it is not served. */
  info(registrar: string, recording?: Recording): Result<SupportedApis> | Promise<Result<SupportedApis>> {
    const apis = (registry: Registry, context: RequestContext) => this.#supportedApis(registry, context, registrar);
    return this.#execute(registrar, apis, recording);
  }

  /** One instrument, by its default id, else by another id. Throws "not-found". */
  instrument(
    registrar: string,
    id: string,
    recording?: Recording,
  ): Result<ListedInstrument> | Promise<Result<ListedInstrument>> {
    const find = (registry: Registry, context: RequestContext, { instruments: all }: Listed): ListedInstrument => {
      const found = all.find((instrument) => instrument.id === id) ?? all.find(({ otherIds }) => otherIds.includes(id));
      const [listed] = found === undefined ? [] : this.#complete(registry, context, registrar, [found]);
      if (listed === undefined)
        throw refuse("instrument-unknown", `registrar ${registrar} has no instrument "${id}"`, {
          registrar,
          instrument: id,
        });
      return listed;
    };
    return this.#execute(registrar, find, recording);
  }

  /** Executes a query on the instruments of a registrar, which are listed once for each state. */
  #execute<T>(
    registrar: string,
    use: (registry: Registry, context: RequestContext, listed: Listed) => T,
    recording: Recording | undefined,
  ): Result<T> | Promise<Result<T>> {
    let listed: Listed | undefined;
    const answer = this.executor.execute((registry, context) => {
      // What is recorded is looked up.
      listed = recording === undefined ? this.#known(registrar, context) : undefined;
      listed ??= list(registry, context, registrar);
      return use(registry, context, listed);
    }, recording);
    // Not in the query, which may run on a part of the contracts.
    const keep = (answered: Result<T>): Result<T> => {
      if (listed !== undefined) this.#keep(registrar, listed);
      return answered;
    };
    return answer instanceof Promise ? answer.then(keep) : keep(answer);
  }

  #known(registrar: string, { view, now }: RequestContext): Listed | undefined {
    const { generation, offset, byRegistrar } = this.#listed;
    if (view.generation !== generation || view.offset !== offset) return undefined;
    const known = byRegistrar.get(registrar);
    return known !== undefined && now * 1000 < known.validUntil ? known : undefined;
  }

  #keep(registrar: string, listed: Listed): void {
    const { generation, offset } = listed;
    if (this.#listed.generation !== generation || this.#listed.offset !== offset)
      this.#listed = { generation, offset, byRegistrar: new Map() };
    if (this.#listed.byRegistrar.size < MAX_KEPT) this.#listed.byRegistrar.set(registrar, listed);
  }

  #complete(
    registry: Registry,
    context: RequestContext,
    registrar: string,
    instruments: readonly Instrument[],
  ): ListedInstrument[] {
    const totalSupply = this.countsHoldings ? registry.totalSupply : undefined;
    const supplies = totalSupply?.(context, registrar, instruments) ?? [];
    const supportedApis = this.#supportedApis(registry, context, registrar);
    return instruments.map(({ id, ...known }, index) => {
      const overrides = this.overrides.get(registrar)?.get(id) ?? {};
      const { paused = false } = known;
      return {
        id,
        name: known.name ?? overrides.name ?? id,
        symbol: known.symbol ?? overrides.symbol ?? id,
        decimals: known.decimals ?? overrides.decimals ?? DEFAULT_DECIMALS,
        description: known.description ?? overrides.description,
        supply: supplies[index],
        supportedApis,
        paused,
        pauseInfo: paused ? overrides.pauseInfo : undefined,
        showAccountInputFields: overrides.showAccountInputFields,
        accountInputFieldsToShow: overrides.accountInputFieldsToShow,
      };
    });
  }

  /** Of a registrar and of each of its instruments. They depend on packages too, of which the registry learns. */
  #supportedApis(registry: Registry, context: RequestContext, registrar: string): SupportedApis {
    const apis = supportedApisOf(registry, context, registrar);
    const { hideVersion2 = false } = this.overrides.get(registrar)?.get(ALL_INSTRUMENTS) ?? {};
    return hideVersion2 ? withoutVersion2(apis) : apis;
  }
}

/** The instruments of a registrar in one state. */
interface Listed {
  readonly generation: string;
  readonly offset: number;
  /** As the registry gives them: of several with one additional id the first counts. */
  readonly instruments: readonly Instrument[];
  /** By id. */
  readonly sorted: readonly Instrument[];
  /** When they may be others although no contract changes, in microseconds since 1970. */
  readonly validUntil: number;
}

const MAX_KEPT = 100;

function list(registry: Registry, context: RequestContext, registrar: string): Listed {
  const { view, now, hasReachedEnd, recorder } = context;
  let validUntil = Infinity;
  const instruments = registry.instruments(
    {
      view,
      now,
      hasReachedEnd,
      recorder,
      onLedger: (template, contractId) => context.onLedger(template, contractId),
      mayChangeAt(times) {
        const all = [...times];
        context.mayChangeAt(all);
        for (const time of all) if (time > now * 1000) validUntil = Math.min(validUntil, time);
      },
    },
    registrar,
  );
  const { generation, offset } = view;
  const sorted = instruments.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return { generation, offset, instruments, sorted, validUntil };
}

function supportedApisOf(registry: Registry, context: RequestContext, registrar: string): SupportedApis {
  return withPackages(registry.supportedApisOf?.(context, registrar) ?? registry.supportedApis);
}

function createPageToken(registrar: string, lastId: string): string {
  return Buffer.from(JSON.stringify([registrar, lastId])).toString("base64url");
}

function readPageToken(token: string, registrar: string): string {
  const content = parseJsonText(Buffer.from(token, "base64url").toString());
  const [owner, lastId]: readonly unknown[] = Array.isArray(content) ? content : [];
  if (owner === registrar && typeof lastId === "string" && createPageToken(registrar, lastId) === token) return lastId;
  throw invalidField(
    "pageToken",
    "was not issued for this registrar: use nextPageToken of the previous page, unchanged",
  );
}
