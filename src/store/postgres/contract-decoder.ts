import type { Contract } from "../../domain/contract.js";
import type { JsonObject } from "../../domain/json.js";
import { type Template, type ParsedPayload, unreadableTemplate } from "../../domain/template.js";
import { templateHash, type LookupHash } from "../lookup-hash.js";

/** A row of offledger.contracts. The driver returns bigint and numeric as text. */
export interface ContractRow {
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

export class ContractDecoder {
  readonly #templates: ReadonlyMap<LookupHash, Template>;

  constructor(templates: readonly Template[]) {
    const stored = templates.flatMap((template) => [template, unreadableTemplate(template)]);
    this.#templates = new Map(stored.map((template) => [templateHash(template), template]));
  }

  template(hash: LookupHash): Template | undefined {
    return this.#templates.get(hash);
  }

  /** Undefined if the template is unknown or does not accept the payload: another release has written the row. */
  contract(row: ContractRow): Contract | undefined {
    const template = this.#templates.get(row.template_hash);
    const parsed = template === undefined ? undefined : parsePayload(template, row.payload);
    if (template === undefined || parsed === undefined) return undefined;
    const { supply_sum, supply_amount } = row;
    // The order of the fields keeps one hidden class; see ledger/decode.ts.
    return {
      fields: parsed.fields,
      template: template,
      synchronizerId: row.synchronizer_id ?? undefined,
      slots: undefined,
      indexKeys: parsed.indexKeys,
      supply:
        supply_sum === null || supply_amount === null
          ? undefined
          : { sum: supply_sum.toString(), amount: BigInt(supply_amount) },
      contractId: row.contract_id,
      templateId: row.template_id,
      payload: row.payload,
      createdEventBlob: row.created_event_blob,
      createdAt: row.created_at,
      createdMicros: Number(row.created_micros),
      reassignmentCounter: Number(row.reassignment_counter),
    };
  }
}

function parsePayload(template: Template, payload: string): ParsedPayload<unknown> | undefined {
  try {
    // The writer stores JSON objects only.
    return template.parse(JSON.parse(payload) as JsonObject);
  } catch {
    return undefined;
  }
}
