import { type Contract, newestFirst } from "../../../domain/contract.js";
import type { TemplateCount } from "../../port.js";
import type { ContractDecoder, ContractRow } from "../contract-decoder.js";
import { DatabaseError } from "../errors.js";
import { type LookupHash, templateCountsHash } from "../../lookup-hash.js";
import type { Fetched } from "./fetch.js";
import { EMPTY_RESULT, hashOf, type Lookup, type LookupResult } from "./lookups.js";

/** A row of fetchStatement. The other columns depend on its type. */
export interface FetchRow extends ContractRow {
  readonly row_type:
    | "state"
    | "invalidated"
    | "stale"
    | "id"
    | "archived"
    | "index_key"
    | "template"
    | "sum"
    | "template_count";
  readonly lookup_hash: LookupHash | null;
}

interface StateJson {
  readonly generation: number;
  readonly offset: number;
  readonly asOf: number | null;
  readonly contentId: string;
  readonly age: number | null;
  readonly otherHistory: string | null;
  readonly isContiguous: boolean;
}

/** Converts the rows of fetchStatement. Throws DatabaseError if the database has no state. */
export function decodeRows(
  rows: readonly FetchRow[],
  decoder: ContractDecoder,
  maxContracts: number,
  missing: readonly Lookup[],
  known: readonly Lookup[],
): Fetched {
  const contracts = new RowContracts(decoder);
  const invalidated = new Set<LookupHash>();
  // The counts are fetched whenever they are asked for.
  const stale = new Set<LookupHash>([templateCountsHash]);
  const archived = new Map<string, LookupHash | undefined>();
  const listsByHash = new Map<LookupHash, Contract[]>();
  const contractsById = new Map<string, Contract>();
  const amounts = new Map<LookupHash, bigint>();
  const templateCounts: TemplateCount[] = [];
  let state: StateJson | undefined;
  for (const row of rows) {
    const hash = row.lookup_hash ?? "";
    switch (row.row_type) {
      case "state":
        // Built by json_build_object in the statement.
        state = JSON.parse(row.payload) as StateJson;
        break;
      case "invalidated":
        invalidated.add(hash);
        break;
      case "stale":
        stale.add(hash);
        break;
      case "archived":
        // The statement puts the hash of the registrar into the column of the lookup.
        archived.set(row.contract_id, row.lookup_hash ?? undefined);
        break;
      case "sum":
        amounts.set(hash, BigInt(row.supply_amount ?? 0));
        break;
      case "template_count": {
        const template = decoder.template(row.template_hash);
        // The statement puts the package id and the count into columns of a contract.
        if (template !== undefined)
          templateCounts.push({ template, packageId: row.template_id, count: Number(row.created_micros) });
        break;
      }
      case "id": {
        const contract = contracts.decode(row);
        if (contract !== undefined) contractsById.set(row.contract_id, contract);
        break;
      }
      default: {
        const contract = contracts.decode(row);
        const list = listsByHash.get(hash) ?? [];
        listsByHash.set(hash, list);
        if (contract !== undefined) list.push(contract);
      }
    }
  }
  if (state === undefined) throw new DatabaseError("schema", "the table offledger.state has no row");
  const resultOf = (lookup: Lookup): LookupResult => {
    switch (lookup.by) {
      case "id": {
        const contract = contractsById.get(lookup.contractId);
        if (contract !== undefined) return { ...EMPTY_RESULT, contracts: [contract] };
        const { contractId } = lookup;
        return {
          ...EMPTY_RESULT,
          wasArchived: archived.has(contractId),
          archivedRegistrar: archived.get(contractId),
        };
      }
      case "sum":
        return { ...EMPTY_RESULT, amount: amounts.get(hashOf(lookup)) ?? 0n };
      case "templateCounts":
        return { ...EMPTY_RESULT, templateCounts };
      default:
        return { ...EMPTY_RESULT, contracts: (listsByHash.get(hashOf(lookup)) ?? []).toSorted(newestFirst) };
    }
  };
  const changed = known.filter((lookup) => stale.has(hashOf(lookup)));
  const found = [...missing, ...changed].map((lookup) => [lookup, resultOf(lookup)] as const);
  const whole = found.filter(([, { contracts: some }]) => some.length <= maxContracts);
  return {
    version: { generation: state.generation, offset: state.offset, asOf: state.asOf ?? undefined },
    contentId: state.contentId,
    age: state.age ?? undefined,
    otherHistory: state.otherHistory ?? undefined,
    isContiguous: state.isContiguous,
    invalidated,
    results: new Map(whole),
    isTruncated: whole.length < found.length,
  };
}

/** Decodes a contract once, however many lookups find it. */
class RowContracts {
  readonly #decoder: ContractDecoder;
  readonly #decoded = new Map<string, Contract | undefined>();

  constructor(decoder: ContractDecoder) {
    this.#decoder = decoder;
  }

  decode(row: ContractRow): Contract | undefined {
    if (!this.#decoded.has(row.contract_id)) this.#decoded.set(row.contract_id, this.#decoder.contract(row));
    return this.#decoded.get(row.contract_id);
  }
}
