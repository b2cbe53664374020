/** One round trip to the database: look-ups, and what has changed since the last. */
import { type Contract, newestFirst } from "../../../domain/contract.js";
import type { TemplateCount } from "../../port.js";
import type { Database } from "../database.js";
import { DatabaseError } from "../errors.js";
import { countsHash, type LookupHash } from "../lookup-hash.js";
import type { ContractRow, ContractDecoder } from "../contract-decoder.js";
import { fetchStatement } from "./fetch.sql.js";
import { type LookupResult, type Lookup, hashOf, EMPTY_RESULT } from "./lookups.js";

/** A state of the store. */
export interface Version {
  /** Which snapshot it comes from; 0 where there is none yet. */
  readonly generation: number;
  readonly offset: number;
  readonly asOf: number | undefined;
}

/** What a round trip gives. */
export interface Fetched {
  readonly version: Version;
  /** What is mirrored and how it is read, as the writer has noted it. */
  readonly contents: string;
  /** Milliseconds since the store was last known to equal the ledger; undefined where it never was. */
  readonly age: number | undefined;
  /** Whether `touched` is all that has changed since the version that was told; where not, anything may have. */
  readonly isContiguous: boolean;
  readonly invalidated: ReadonlySet<LookupHash>;
  /** What was looked for, and of what was known that which is not as it was. */
  readonly found: ReadonlyMap<Lookup, LookupResult>;
}

interface Row extends ContractRow {
  readonly what: "state" | "touched" | "stale" | "id" | "archived" | "key" | "kind" | "sum" | "census";
  readonly name: LookupHash | null;
}

/** So many updates behind, a reader begins anew rather than hear of all of them. */
const MOST_BEHIND = 2_000;

/** `missing` are not known, `known` are, as of `since`; the census counts as missing. Throws DatabaseError. */
export async function fetchLookups(
  database: Database,
  decoder: ContractDecoder,
  since: Version,
  missing: readonly Lookup[],
  known: readonly Lookup[],
): Promise<Fetched> {
  const [ids, otherIds] = [missing, known].map((lookups) => lookups.flatMap((one) => (one.by === "id" ? [one] : [])));
  const answer = await database.query<Row>(fetchStatement, [
    since.generation,
    since.offset,
    (ids ?? []).map(({ contractId }) => contractId).filter(isOfLedger),
    names(known, "id"),
    names(missing, "key"),
    names(known, "key"),
    names(missing, "kind"),
    names(known, "kind"),
    names(missing, "sum"),
    names(known, "sum"),
    (otherIds ?? []).map(({ contractId }) => (isOfLedger(contractId) ? contractId : "")),
    [...missing, ...known].some(({ by }) => by === "census"),
    MOST_BEHIND,
  ]);
  return read(answer, decoder, missing, known);
}

const names = (lookups: readonly Lookup[], by: Lookup["by"]): LookupHash[] =>
  lookups.filter((one) => one.by === by).map((one) => hashOf(one));

/** A text of PostgreSQL cannot hold this character, and no contract id does. */
const isOfLedger = (contractId: string): boolean => !contractId.includes("\0");

function read(
  answer: readonly Row[],
  decoder: ContractDecoder,
  missing: readonly Lookup[],
  known: readonly Lookup[],
): Fetched {
  const contracts = new Contracts(decoder);
  const invalidated = new Set<LookupHash>();
  const stale = new Set<LookupHash>([countsHash]);
  const archived = new Set<string>();
  const byName = new Map<LookupHash, Contract[]>();
  const byId = new Map<string, Contract>();
  const amounts = new Map<LookupHash, bigint>();
  const templateCounts: TemplateCount[] = [];
  let state: State | undefined;
  for (const row of answer) {
    const name = row.name ?? "";
    switch (row.what) {
      case "state":
        // The statement builds it.
        state = JSON.parse(row.payload) as State;
        break;
      case "touched":
        invalidated.add(name);
        break;
      case "stale":
        stale.add(name);
        break;
      case "archived":
        archived.add(row.contract_id);
        break;
      case "sum":
        amounts.set(name, BigInt(row.share_amount ?? 0));
        break;
      case "census": {
        const template = decoder.template(row.kind);
        if (template !== undefined)
          templateCounts.push({ template, packageId: row.template_id, count: Number(row.created_micros) });
        break;
      }
      case "id": {
        const contract = contracts.of(row);
        if (contract !== undefined) byId.set(row.contract_id, contract);
        break;
      }
      default: {
        const contract = contracts.of(row);
        const list = byName.get(name) ?? [];
        byName.set(name, list);
        if (contract !== undefined) list.push(contract);
      }
    }
  }
  if (state === undefined) throw new DatabaseError("schema", "the database has no row in offledger.state");
  const findings = (lookup: Lookup): LookupResult => {
    switch (lookup.by) {
      case "id": {
        const contract = byId.get(lookup.contractId);
        if (contract !== undefined) return { ...EMPTY_RESULT, contracts: [contract] };
        return { ...EMPTY_RESULT, wasArchived: archived.has(lookup.contractId) };
      }
      case "sum":
        return { ...EMPTY_RESULT, amount: amounts.get(hashOf(lookup)) ?? 0n };
      case "census":
        return { ...EMPTY_RESULT, templateCounts };
      default:
        return { ...EMPTY_RESULT, contracts: (byName.get(hashOf(lookup)) ?? []).toSorted(newestFirst) };
    }
  };
  const changed = known.filter((lookup) => stale.has(hashOf(lookup)));
  return {
    version: { generation: state.generation, offset: state.offset, asOf: state.asOf ?? undefined },
    contents: state.contents,
    age: state.age ?? undefined,
    isContiguous: state.continues,
    invalidated,
    found: new Map([...missing, ...changed].map((lookup) => [lookup, findings(lookup)])),
  };
}

interface State {
  readonly generation: number;
  readonly offset: number;
  readonly asOf: number | null;
  readonly contents: string;
  readonly age: number | null;
  readonly continues: boolean;
}

/** A contract that several look-ups find is one and the same. */
class Contracts {
  readonly #decoder: ContractDecoder;
  readonly #made = new Map<string, Contract | undefined>();

  constructor(decoder: ContractDecoder) {
    this.#decoder = decoder;
  }

  of(row: ContractRow): Contract | undefined {
    if (!this.#made.has(row.contract_id)) this.#made.set(row.contract_id, this.#decoder.contract(row));
    return this.#made.get(row.contract_id);
  }
}
