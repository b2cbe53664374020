/** Contracts as rows. */
import type { Contract } from "../../domain/contract.js";
import type { JsonObject } from "../../domain/json.js";
import type { Template, ParsedPayload } from "../../domain/template.js";
import { templateHash, type LookupHash } from "./lookup-hash.js";

/** What is read of a contract. What the driver gives as text may be larger than a number. */
export interface ContractRow {
  readonly kind: LookupHash;
  readonly contract_id: string;
  readonly template_id: string;
  readonly payload: string;
  readonly created_event_blob: string;
  readonly created_at: string;
  readonly created_micros: string;
  readonly synchronizer_id: string | null;
  readonly reassignment_counter: string;
  readonly share_sum: Buffer | null;
  readonly share_amount: string | null;
}

/** Makes contracts of rows, of the kinds that it is made with. */
export class ContractDecoder {
  readonly #templates: ReadonlyMap<LookupHash, Template>;

  constructor(templates: readonly Template[]) {
    this.#templates = new Map(templates.map((template) => [templateHash(template), template]));
  }

  template(name: LookupHash): Template | undefined {
    return this.#templates.get(name);
  }

  /**
   * The facts and keys are read from the payload, as the ledger's event was when
   * it was stored. Undefined for what is of no kind that is known, not kept by it,
   * or not to be read: another release has written it.
   */
  contract(row: ContractRow): Contract | undefined {
    const template = this.#templates.get(row.kind);
    const parsed = template === undefined ? undefined : readingOf(template, row.payload);
    if (template === undefined || parsed === undefined) return undefined;
    const { share_sum, share_amount } = row;
    // Field by field, for the sake of V8; see ledger/decode.ts.
    return {
      fields: parsed.fields,
      template: template,
      synchronizerId: row.synchronizer_id ?? undefined,
      slots: undefined,
      indexKeys: parsed.indexKeys,
      supply:
        share_sum === null || share_amount === null
          ? undefined
          : { sum: share_sum.toString(), amount: BigInt(share_amount) },
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

function readingOf(template: Template, payload: string): ParsedPayload<unknown> | undefined {
  try {
    // What was written as JSON of an object is one again.
    return template.parse(JSON.parse(payload) as JsonObject);
  } catch {
    return undefined;
  }
}
