import { invalid, notFound } from "../domain/errors.js";
import type { QueryExecutor } from "./executor.js";
import type { Instrument, Registry, RequestContext, Supply } from "./sdk/registry.js";

/** What an operator says of an instrument beyond the ledger. */
export type InstrumentOverrides = Pick<Instrument, "name" | "symbol" | "decimals" | "description">;

/** The operator's words by registrar and instrument id. */
export type OverridesByInstrument = ReadonlyMap<string, ReadonlyMap<string, InstrumentOverrides>>;

/** An instrument with all that a wallet shows of it. */
export interface ListedInstrument {
  readonly id: string;
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly description: string | undefined;
  readonly supply: Supply | undefined;
  readonly supportedApis: Readonly<Record<string, number>>;
}

export interface Page {
  readonly instruments: readonly ListedInstrument[];
  /** Asks for the page behind; undefined on the last. */
  readonly nextPageToken: string | undefined;
}

/** How many instruments a page has where the caller does not say, and at most. */
const PAGE_SIZE = 25;
const MOST = 1_000;
/** The places of a Daml Decimal. */
const DECIMALS = 10;

/** The instruments of any registry, completed by the operator's words. What the ledger tells wins. */
export class InstrumentDirectory {
  readonly #executor: QueryExecutor;
  readonly #overrides: OverridesByInstrument;
  readonly #countsHoldings: boolean;

  /** `countsHoldings`: whether the store counts, so that there is a supply to tell. */
  constructor(executor: QueryExecutor, overrides: OverridesByInstrument, countsHoldings: boolean) {
    this.#executor = executor;
    this.#overrides = overrides;
    this.#countsHoldings = countsHoldings;
  }

  /**
   * A page by ascending id. The token names the last id of the page before, so
   * that instruments that come and go move no other out of a page.
   */
  page(registrar: string, size = PAGE_SIZE, token = ""): Page | Promise<Page> {
    const after = token === "" ? undefined : lastOf(token, registrar);
    return this.#executor.execute((registry, context) => {
      const all = registry.instruments(context, registrar);
      const behind = all
        .filter(({ id }) => after === undefined || id > after)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1));
      const page = behind.slice(0, Math.min(size, MOST));
      const last = page.at(-1);
      const isLast = last === undefined || page.length === behind.length;
      return {
        instruments: this.#complete(registry, context, registrar, page),
        nextPageToken: isLast ? undefined : tokenOf(registrar, last.id),
      };
    });
  }

  /** One instrument, by its own id or, where none has that, by a further one. */
  instrument(registrar: string, id: string): ListedInstrument | Promise<ListedInstrument> {
    return this.#executor.execute((registry, context) => {
      const all = registry.instruments(context, registrar);
      const found = all.find((one) => one.id === id) ?? all.find(({ otherIds }) => otherIds.includes(id));
      const [listed] = found === undefined ? [] : this.#complete(registry, context, registrar, [found]);
      if (listed === undefined) throw notFound(`registrar ${registrar} has no instrument "${id}"`);
      return listed;
    });
  }

  #complete(
    registry: Registry,
    context: RequestContext,
    registrar: string,
    instruments: readonly Instrument[],
  ): ListedInstrument[] {
    const counts = this.#countsHoldings ? registry.totalSupply : undefined;
    const supplies = counts?.(context, registrar, instruments) ?? [];
    return instruments.map(({ id, ...told }, index) => {
      const overrides = this.#overrides.get(registrar)?.get(id) ?? {};
      return {
        id,
        name: told.name ?? overrides.name ?? id,
        symbol: told.symbol ?? overrides.symbol ?? id,
        decimals: told.decimals ?? overrides.decimals ?? DECIMALS,
        description: told.description ?? overrides.description,
        supply: supplies[index],
        supportedApis: registry.supportedApis,
      };
    });
  }
}

function tokenOf(registrar: string, lastId: string): string {
  return Buffer.from(JSON.stringify([registrar, lastId])).toString("base64url");
}

/** The id behind which a page begins. */
function lastOf(token: string, registrar: string): string {
  const [owner, lastId] = parse(Buffer.from(token, "base64url").toString());
  if (owner === registrar && typeof lastId === "string" && tokenOf(registrar, lastId) === token) return lastId;
  throw invalid(
    "pageToken is none that was given for this registrar: use nextPageToken of the page before, as it came",
  );
}

function parse(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
