import { type StoredContract, newestFirst } from "../../domain/contract.js";
import type { JsonObject } from "../../domain/json.js";
import { type ParsedPayload, type Template, unreadableTemplate } from "../../domain/template.js";
import { contentHash, type LookupHash, templateCountsHash, templateHash } from "../lookup-hash.js";
import type { TemplateCount } from "../port.js";
import type { Database, Statement } from "./database.js";
import { EMPTY_RESULT, type Fetched, hashOf, type Lookup, type LookupResult, type Version } from "./lookups.js";

/** A reader that is more updates behind drops its whole cache instead of reading what each has changed. */
const MAX_UPDATES_BEHIND = 2_000;

/** The templates of contracts that a database may hold, by the hash that is stored. */
export type TemplatesByHash = ReadonlyMap<LookupHash, Template>;

export const byHash = (templates: readonly Template[]): TemplatesByHash =>
  new Map(
    templates
      .flatMap((template) => [template, unreadableTemplate(template)])
      .map((template) => [templateHash(template), template]),
  );

/**
 * Executes missing lookups, and repeats known ones that have changed or are template counts. A lookup finds at most
 * `maxContracts`. Throws DatabaseError.
 */
export async function fetchLookups(
  database: Database,
  contentId: string,
  templates: TemplatesByHash,
  maxContracts: number,
  since: Version,
  missing: readonly Lookup[],
  known: readonly Lookup[],
): Promise<Fetched> {
  const rows = await database.read<FetchRow>(fetchStatement, [
    since.generation,
    since.offset,
    contractIds(missing).filter(isStorable),
    hashes(known, "id"),
    hashes(missing, "indexKey"),
    hashes(known, "indexKey"),
    hashes(missing, "template"),
    hashes(known, "template"),
    hashes(missing, "sum"),
    hashes(known, "sum"),
    contractIds(known).map((contractId) => (isStorable(contractId) ? contractId : "")),
    [...missing, ...known].some(({ by }) => by === "templateCounts"),
    MAX_UPDATES_BEHIND,
    maxContracts + 1,
    contentHash(contentId),
  ]);
  return decodeRows(rows, templates, maxContracts, missing, known);
}

const contractIds = (lookups: readonly Lookup[]): string[] =>
  lookups.flatMap((lookup) => (lookup.by === "id" ? [lookup.contractId] : []));

const hashes = (lookups: readonly Lookup[], by: Lookup["by"]): LookupHash[] =>
  lookups.filter((lookup) => lookup.by === by).map((lookup) => hashOf(lookup));

/** PostgreSQL text cannot hold NUL, and no contract id does. */
const isStorable = (contractId: string): boolean => !contractId.includes("\0");

/**
 * Everything that a read needs, of one state, in one round trip: the position of the store, what has changed since the
 * state that the reader knows ($1 generation, $2 offset), and the lookups. $12 asks for the template counts. $13 is the
 * number of updates that a reader may be behind, $14 of contracts that a lookup returns, $15 the hash of the content.
 *
 * Unknown lookups are always executed: $3 ids, and hashes of $5 index keys, $7 templates, $9 sums. Known lookups only
 * if changed since $2, or if that is unknown: hashes of $4 ids (the ids in $11), $6 index keys, $8 templates, $10 sums.
 *
 * OFFSET 0 fences each LATERAL subquery: the planner uses all columns of an index for each row. Otherwise it may scan a
 * whole generation to find a few rows.
 */
export const fetchStatement: Statement = {
  name: "fetch",
  text: `
WITH state AS MATERIALIZED (
  SELECT s.*,
    s.generation = $1::bigint AND s.ledger_offset >= $2::bigint AND s.invalidations_from <= $2::bigint
      AND NOT EXISTS (
        SELECT FROM offledger.invalidations i WHERE i.generation = $1::bigint AND i.ledger_offset > $2::bigint
        OFFSET $13::bigint LIMIT 1
      ) AS is_contiguous
  FROM offledger.state s WHERE s.content_hash = $15::uuid
),
invalidated AS MATERIALIZED (
  SELECT DISTINCT u.hash
  FROM state s
  CROSS JOIN LATERAL (
    SELECT i.lookup_hashes FROM offledger.invalidations i
    WHERE s.is_contiguous AND i.generation = s.generation AND i.ledger_offset > $2::bigint OFFSET 0
  ) i
  CROSS JOIN LATERAL unnest(i.lookup_hashes) u (hash)
),
stale AS MATERIALIZED (
  SELECT k.hash
  FROM state s CROSS JOIN unnest($4::uuid[] || $6::uuid[] || $8::uuid[] || $10::uuid[]) k (hash)
  WHERE NOT s.is_contiguous OR k.hash IN (SELECT i.hash FROM invalidated i)
),
ids AS MATERIALIZED (
  SELECT u.id FROM unnest($3::text[]) u (id)
  UNION
  SELECT k.id FROM unnest($11::text[], $4::uuid[]) k (id, hash) JOIN stale x ON x.hash = k.hash
),
index_keys AS MATERIALIZED (
  SELECT u.hash FROM unnest($5::uuid[]) u (hash)
  UNION SELECT x.hash FROM stale x WHERE x.hash = ANY ($6::uuid[])
),
templates AS MATERIALIZED (
  SELECT u.hash FROM unnest($7::uuid[]) u (hash)
  UNION SELECT x.hash FROM stale x WHERE x.hash = ANY ($8::uuid[])
),
sums AS MATERIALIZED (
  SELECT u.hash FROM unnest($9::uuid[]) u (hash)
  UNION SELECT x.hash FROM stale x WHERE x.hash = ANY ($10::uuid[])
)
SELECT 'state' AS row_type, NULL::uuid AS lookup_hash, NULL::uuid AS template_hash,
  NULL AS contract_id, NULL AS template_id,
  json_build_object('generation', s.generation, 'offset', s.ledger_offset, 'asOf', s.as_of,
    'writtenAt', extract(epoch FROM s.led_at) * 1000, 'confirmedAt', extract(epoch FROM s.confirmed_at) * 1000,
    'elapsed', extract(epoch FROM clock_timestamp() - s.confirmed_at) * 1000, 'otherHistory', s.other_history, 'isContiguous', s.is_contiguous)::text AS payload,
  NULL AS created_event_blob, NULL AS created_at, NULL::bigint AS created_micros, NULL AS synchronizer_id,
  NULL::bigint AS reassignment_counter, NULL::bytea AS supply_sum, NULL::numeric AS supply_amount
FROM state s
UNION ALL
SELECT 'invalidated', i.hash, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM invalidated i
UNION ALL
SELECT 'stale', x.hash, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM stale x
UNION ALL
SELECT 'id', NULL, c.template_hash, c.contract_id, c.template_id, c.payload, c.created_event_blob,
  c.created_at, c.created_micros, c.synchronizer_id, c.reassignment_counter, c.supply_sum, c.supply_amount
FROM state s CROSS JOIN ids i
CROSS JOIN LATERAL (
  SELECT * FROM offledger.contracts c WHERE c.generation = s.generation AND c.contract_id = i.id OFFSET 0
) c
UNION ALL
SELECT 'archived', a.registrar_hash, NULL, a.contract_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM state s CROSS JOIN ids i
CROSS JOIN LATERAL (
  SELECT a.contract_id, a.registrar_hash FROM offledger.archived_contracts a
  WHERE a.generation = s.generation AND a.contract_id = i.id OFFSET 0
) a
UNION ALL
SELECT 'index_key', k.hash, c.template_hash, c.contract_id, c.template_id, c.payload, c.created_event_blob,
  c.created_at, c.created_micros, c.synchronizer_id, c.reassignment_counter, c.supply_sum, c.supply_amount
FROM state s CROSS JOIN index_keys k
CROSS JOIN LATERAL (
  SELECT ik.contract_id FROM offledger.index_keys ik
  WHERE ik.generation = s.generation AND ik.index_key_hash = k.hash OFFSET 0 LIMIT $14::bigint
) ik
CROSS JOIN LATERAL (
  SELECT * FROM offledger.contracts c WHERE c.generation = s.generation AND c.contract_id = ik.contract_id OFFSET 0
) c
UNION ALL
SELECT 'template', t.hash, c.template_hash, c.contract_id, c.template_id, c.payload, c.created_event_blob,
  c.created_at, c.created_micros, c.synchronizer_id, c.reassignment_counter, c.supply_sum, c.supply_amount
FROM state s CROSS JOIN templates t
CROSS JOIN LATERAL (
  SELECT * FROM offledger.contracts c WHERE c.generation = s.generation AND c.template_hash = t.hash OFFSET 0
  LIMIT $14::bigint
) c
UNION ALL
SELECT 'sum', u.hash, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, t.amount
FROM state s CROSS JOIN sums u
CROSS JOIN LATERAL (
  SELECT t.amount FROM offledger.sums t WHERE t.generation = s.generation AND t.sum_hash = u.hash OFFSET 0
) t
UNION ALL
SELECT 'template_count', NULL, n.template_hash, NULL, n.package_id, NULL, NULL, NULL, n.count, NULL, NULL, NULL, NULL
FROM state s
CROSS JOIN LATERAL (
  SELECT * FROM offledger.template_counts n WHERE $12::boolean AND n.generation = s.generation AND n.count > 0 OFFSET 0
) n`,
};

/** The ids of at most $2 contracts: of the template with hash $1, of the content with hash $3. Unordered: an order reads all. */
export const idsStatement: Statement = {
  name: "ids",
  text: `
SELECT c.contract_id
FROM offledger.state s
CROSS JOIN LATERAL (
  SELECT c.contract_id FROM offledger.contracts c
  WHERE c.generation = s.generation AND c.template_hash = $1::uuid OFFSET 0 LIMIT $2::bigint
) c
WHERE s.content_hash = $3::uuid`,
};

/** A row of offledger.contracts. The driver returns bigint and numeric as text. */
interface ContractRow {
  readonly template_hash: LookupHash;
  readonly contract_id: string;
  readonly template_id: string;
  readonly payload: string;
  readonly created_event_blob: string;
  readonly created_at: string;
  readonly created_micros: string;
  readonly synchronizer_id: string | null;
  readonly reassignment_counter: string;
  readonly supply_sum: Buffer | null;
  readonly supply_amount: string | null;
}

/** A row of fetchStatement. The other columns depend on its type. */
interface FetchRow extends ContractRow {
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
  readonly writtenAt: number;
  readonly confirmedAt: number | null;
  readonly elapsed: number | null;
  readonly otherHistory: string | null;
  readonly isContiguous: boolean;
}

/** Converts the rows of fetchStatement. Without a state there is no generation. */
function decodeRows(
  rows: readonly FetchRow[],
  templates: TemplatesByHash,
  maxContracts: number,
  missing: readonly Lookup[],
  known: readonly Lookup[],
): Fetched {
  /** Each contract once, however many lookups find it. */
  const decoded = new Map<string, StoredContract | undefined>();
  const decode = (row: ContractRow): StoredContract | undefined => {
    if (!decoded.has(row.contract_id)) decoded.set(row.contract_id, decodeContract(row, templates));
    return decoded.get(row.contract_id);
  };
  const invalidated = new Set<LookupHash>();
  // The counts are fetched whenever they are asked for.
  const stale = new Set<LookupHash>([templateCountsHash]);
  const archived = new Map<string, LookupHash | undefined>();
  const listsByHash = new Map<LookupHash, StoredContract[]>();
  const contractsById = new Map<string, StoredContract>();
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
        const template = templates.get(row.template_hash);
        // The statement puts the package id and the count into columns of a contract.
        if (template !== undefined)
          templateCounts.push({ template, packageId: row.template_id, count: Number(row.created_micros) });
        break;
      }
      case "id": {
        const contract = decode(row);
        if (contract !== undefined) contractsById.set(row.contract_id, contract);
        break;
      }
      default: {
        const contract = decode(row);
        const list = listsByHash.get(hash) ?? [];
        listsByHash.set(hash, list);
        if (contract !== undefined) list.push(contract);
      }
    }
  }
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
    version: { generation: state?.generation ?? 0, offset: state?.offset ?? 0, asOf: state?.asOf ?? undefined },
    hasState: state !== undefined,
    heartbeat: state && {
      // A mirror of the release before counts none.
      count: state.writtenAt,
      writtenAt: state.writtenAt,
      confirmedAt: state.confirmedAt ?? undefined,
      elapsed: state.elapsed ?? undefined,
    },
    otherHistory: state?.otherHistory ?? undefined,
    isContiguous: state?.isContiguous ?? false,
    invalidated,
    results: new Map(whole),
    isTruncated: whole.length < found.length,
  };
}

/** Undefined if the template is unknown or does not accept the payload: another release has written the row. */
function decodeContract(row: ContractRow, templates: TemplatesByHash): StoredContract | undefined {
  const template = templates.get(row.template_hash);
  const parsed = template === undefined ? undefined : parsePayload(template, row.payload);
  if (template === undefined || parsed === undefined) return undefined;
  const { supply_sum, supply_amount } = row;
  return {
    // The order of the fields keeps one hidden class; see ledger/decode.ts.
    fields: parsed.fields,
    template,
    synchronizerId: row.synchronizer_id ?? undefined,
    indexKeys: parsed.indexKeys,
    supply:
      supply_sum === null || supply_amount === null
        ? undefined
        : { sum: supply_sum.toString(), amount: BigInt(supply_amount) },
    contractId: row.contract_id,
    templateId: row.template_id,
    body: { payload: row.payload, createdEventBlob: row.created_event_blob, encodings: undefined },
    createdAt: row.created_at,
    createdMicros: Number(row.created_micros),
    reassignmentCounter: Number(row.reassignment_counter),
  };
}

function parsePayload(template: Template, payload: string): ParsedPayload<unknown> | undefined {
  try {
    // The writer stores JSON objects only.
    return template.parse(JSON.parse(payload) as JsonObject);
  } catch {
    return undefined;
  }
}
