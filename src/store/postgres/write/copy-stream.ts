import { once } from "node:events";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Client } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { asDatabaseError, type DatabaseError } from "../errors.js";

const CHUNK_LENGTH = 64 * 1024;

/** Writes rows of one generation into a table by COPY, with backpressure. Throws DatabaseError. */
export class CopyStream {
  readonly #stream: Writable;
  readonly #generation: number;
  readonly #signal: AbortSignal;
  #buffer = "";
  #failure: DatabaseError | undefined;

  /** `statement` is a COPY statement whose first column is the generation. */
  constructor(client: Client, statement: string, generation: number, signal: AbortSignal) {
    this.#signal = signal;
    this.#stream = client.query(copyFrom(statement));
    this.#generation = generation;
    this.#stream.on("error", (error) => (this.#failure = asDatabaseError(error)));
  }

  async write(...columns: readonly (string | null)[]): Promise<void> {
    this.#buffer += `${this.#generation}`;
    for (const column of columns) this.#buffer += column === null ? "\t\\N" : `\t${escapeColumn(column)}`;
    this.#buffer += "\n";
    if (this.#buffer.length >= CHUNK_LENGTH) await this.#flush();
  }

  async end(): Promise<void> {
    await this.#flush();
    this.#stream.end();
    await finished(this.#stream, { signal: this.#signal }).catch((error: unknown) => {
      throw asDatabaseError(error);
    });
  }

  async #flush(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const chunk = this.#buffer;
    this.#buffer = "";
    if (chunk !== "" && !this.#stream.write(chunk)) {
      await once(this.#stream, "drain", { signal: this.#signal }).catch((error: unknown) => {
        throw asDatabaseError(error);
      });
    }
  }
}

const SPECIAL = /[\\\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** Escapes a value for the text format of COPY; https://www.postgresql.org/docs/current/sql-copy.html */
const escapeColumn = (value: string): string => value.replace(SPECIAL, (character) => ESCAPES[character] ?? character);
