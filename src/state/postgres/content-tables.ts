import type { Client } from "pg";
import type { CountedOnly, StoredContract } from "../../domain/contract.js";
import type { ChangeBatch } from "./batches.js";
import type { Statement } from "./database.js";

/** The tables that a content is written to, and how. Each has a column `generation`. */
export interface ContentTables {
  /**
   * Applies a batch and moves the offset in one step. Returns no row, and changes nothing, unless the state is where the
   * writer left it: $1 epoch, $2 generation, $3 offset before the update (in a further batch of the same update, the offset of
   * the update itself). $4 offset, $5 as of, $6 update id; the others are those of `toParameters`.
   */
  readonly apply: Statement;
  /** Throws UnstorableContract. */
  toParameters(batch: ChangeBatch): unknown[];
  readonly copies: readonly Copy[];
  /** Completes a snapshot of which all rows were copied. */
  complete(session: Client, generation: number, offset: number): Promise<void>;
  /** Finds a contract of generation $1 that is stored and counted only. */
  readonly countedTwice: string;
  /**
   * Delete what no reader needs of generation $1, unless another epoch than $2 has begun. One that returns rows is run again.
   */
  readonly trims: readonly Statement[];
}

export type Columns = readonly (string | null)[];

/** A COPY statement, and what it writes of a contract: rows without their first column, the generation. */
export interface Copy {
  readonly statement: string;
  /** Throws UnstorableContract. */
  readonly rowsOf: (contract: StoredContract | CountedOnly, offset: number) => readonly Columns[];
}

/** A registry module has read something of a contract that these tables cannot hold. */
export class UnstorableContract extends Error {}
