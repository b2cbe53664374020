/** What a template's `parse` gave, as JSON in a row of a log. */
import type { Contract } from "../../domain/contract.js";
import type { JsonValue } from "../../util/json.js";
import { SharedStrings } from "../../domain/shared-strings.js";
import { combined, type Template, unreadableTemplate } from "../../domain/template.js";
import { type LookupHash, templateHash } from "../lookup-hash.js";

interface Parsed {
  readonly fields: unknown;
  readonly indexKeys: readonly string[];
  /** The name of the sum that the contract adds to. */
  readonly sum?: string | undefined;
  /** The templates of a contract that is of several. */
  readonly parts?: readonly LookupHash[] | undefined;
}

/** A registry module has read something of a contract that a row cannot hold. */
export class UnstorableContract extends Error {}

/** Throws UnstorableContract if the fields would not be the same after they were read. */
export function encodeParsed({ template, contractId, fields, indexKeys, supply }: Contract): string {
  const foreign = findForeign(fields ?? null, 0);
  if (foreign !== undefined) {
    throw new UnstorableContract(
      `template ${template.packageName}:${template.qualifiedName}: fields${foreign.path} of contract ${contractId} is ` +
        `${foreign.found}, which a database cannot store: \`parse\` must return plain objects, lists, texts, finite ` +
        "numbers, booleans and null",
    );
  }
  const parsed: Parsed = { fields, indexKeys, sum: supply?.sum, parts: template.parts?.map(templateHash) };
  return JSON.stringify(parsed);
}

interface Foreign {
  /** Behind the value that was searched. */
  readonly path: string;
  readonly found: string;
}

/** Ends the search in an object that contains itself. */
const MAX_DEPTH = 100;

/** A part of a value that JSON would lose or change. A member that is undefined reads as one that is absent. */
function findForeign(value: unknown, depth: number): Foreign | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : { path: "", found: String(value) };
    case "object":
      if (value === null) return undefined;
      if (depth === MAX_DEPTH) return { path: "", found: `below ${MAX_DEPTH} others` };
      return Array.isArray(value) ? findInList(value, depth) : findInObject(value, depth);
    default:
      return { path: "", found: `of type ${typeof value}` };
  }
}

function findInList(list: readonly unknown[], depth: number): Foreign | undefined {
  for (const [index, item] of list.entries()) {
    const foreign = findForeign(item, depth + 1);
    if (foreign !== undefined) return { ...foreign, path: `[${index}]${foreign.path}` };
  }
  return undefined;
}

function findInObject(object: object, depth: number): Foreign | undefined {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) {
    return { path: "", found: `of class ${object.constructor.name}` };
  }
  for (const [name, member] of Object.entries(object)) {
    const foreign = member === undefined ? undefined : findForeign(member, depth + 1);
    if (foreign !== undefined) return { ...foreign, path: `.${name}${foreign.path}` };
  }
  return undefined;
}

/** What a reader takes of a row of offledger.log_contracts. The driver returns bigint and numeric as text. */
export interface ContractRow {
  readonly contract_id: string;
  readonly template_hash: LookupHash;
  readonly template_id: string;
  readonly created_at: string;
  readonly created_micros: string;
  readonly synchronizer_id: string | null;
  readonly reassignment_counter: string;
  readonly parsed: string;
  readonly amount: string | null;
}

/** Makes contracts of rows. Equal strings of different contracts are the same. */
export class ContractDecoder {
  readonly #templates: ReadonlyMap<LookupHash, Template>;
  readonly #strings = new SharedStrings();

  constructor(templates: readonly Template[]) {
    const all = templates.flatMap((template) => [template, unreadableTemplate(template)]);
    this.#templates = new Map(all.map((template) => [templateHash(template), template]));
  }

  /** One whose JSON is not what a writer stores is of the unreadable template. Throws an Error if its template is not known. */
  decode(row: ContractRow): Contract {
    const parsed = this.#parse(row.parsed);
    const template = this.#templateOf(parsed?.parts ?? [row.template_hash]);
    if (template === undefined) {
      throw new Error(
        `contract ${row.contract_id} is stored with template ${row.template_id}, which this process does not serve`,
      );
    }
    const unreadable = unreadableTemplate(template);
    // The order of the fields keeps one hidden class, which has room for the body; see ledger/decode.ts.
    const contract: Contract & { readonly body: undefined } = {
      fields: parsed === undefined ? null : parsed.fields,
      template: parsed === undefined ? unreadable : template,
      synchronizerId: row.synchronizer_id === null ? undefined : this.#strings.share(row.synchronizer_id),
      indexKeys: parsed === undefined ? [unreadable.indexKey] : parsed.indexKeys,
      supply:
        parsed?.sum === undefined || row.amount === null ? undefined : { sum: parsed.sum, amount: BigInt(row.amount) },
      contractId: row.contract_id,
      templateId: this.#strings.share(row.template_id),
      body: undefined,
      createdAt: row.created_at,
      createdMicros: Number(row.created_micros),
      reassignmentCounter: Number(row.reassignment_counter),
    };
    return contract;
  }

  /** Undefined if one of its parts is not known. */
  #templateOf(hashes: readonly LookupHash[]): Template | undefined {
    const known = hashes.flatMap((hash) => this.#templates.get(hash) ?? []);
    return known.length < hashes.length ? undefined : combined(known);
  }

  #parse(json: string): Parsed | undefined {
    try {
      const parsed = this.#strings.shareIn(JSON.parse(json) as JsonValue) as Partial<Parsed> | null;
      if (!Array.isArray(parsed?.indexKeys)) return undefined;
      return { fields: parsed.fields, indexKeys: parsed.indexKeys, sum: parsed.sum, parts: parsed.parts };
    } catch {
      return undefined;
    }
  }
}
