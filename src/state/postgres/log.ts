import type { Client } from "pg";
import type { BodyTexts } from "../../domain/contract.js";
import type { Template } from "../../domain/template.js";
import type { FetchedBodies, LoggedState, LogNotices, LogPosition, LogProgress, StateLog } from "../log.js";
import { contentHash, type LookupHash } from "../lookup-hash.js";
import { ContractDecoder } from "./contract-json.js";
import { channels, type Database, type Statement } from "./database.js";
import { orUnavailable } from "./errors.js";
import { loadLogged } from "./load.js";
import { readProgress } from "./progress.js";
import { endSession } from "./sessions.js";

export interface PostgresLogOptions {
  /** Of the contracts that the log has. */
  readonly templates: readonly Template[];
  /** See contentId. */
  readonly contentId: string;
}

/** The log of a content in a database, to which PostgresWriter commits. */
export class PostgresLog implements StateLog {
  readonly #database: Database;
  readonly #contentHash: LookupHash;
  readonly #decoder: ContractDecoder;

  constructor(database: Database, { templates, contentId }: PostgresLogOptions) {
    this.#database = database;
    this.#contentHash = contentHash(contentId);
    this.#decoder = new ContractDecoder(templates);
  }

  async progress(since: LogPosition | undefined): Promise<LogProgress> {
    return readProgress(this.#database, this.#contentHash, this.#decoder, since);
  }

  async load<T>(use: (state: LoggedState | undefined) => Promise<T>, signal: AbortSignal, generation?: number) {
    return loadLogged(this.#database, this.#contentHash, this.#decoder, use, signal, generation);
  }

  async bodies(contractIds: readonly string[], generation: number): Promise<FetchedBodies> {
    const rows = await orUnavailable(
      this.#database.read<BodyRow>(bodiesStatement, [this.#contentHash, [...contractIds], generation]),
    );
    const bodies = new Map<string, BodyTexts>();
    for (const { contract_id, payload, views, created_event_blob } of rows) {
      if (contract_id !== null) bodies.set(contract_id, { payload, views, createdEventBlob: created_event_blob });
    }
    const [state] = rows;
    const head = state && {
      generation: Number(state.generation),
      offset: Number(state.ledger_offset),
      updateId: state.update_id ?? undefined,
    };
    return { head, bodies };
  }

  async listen({ listening, committed, caughtUp }: LogNotices, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const session = await orUnavailable(this.#database.openSession());
    try {
      const ended = endOf(session, signal);
      session.on("notification", ({ channel, payload = "" }) => {
        // Other contents of the database have mirrors of their own.
        if (!payload.startsWith(this.#contentHash)) return;
        if (channel === channels.caughtUp) caughtUp(payload.slice(this.#contentHash.length + 1));
        else committed();
      });
      await orUnavailable(session.query(`LISTEN ${channels.stateChanged}; LISTEN ${channels.caughtUp}`));
      listening();
      await ended;
    } finally {
      await endSession(session);
    }
  }

  async requestCatchUp(id: string): Promise<void> {
    await orUnavailable(this.#database.read(REQUEST_CATCH_UP, [`${this.#contentHash} ${id}`]));
  }
}

const REQUEST_CATCH_UP: Statement = {
  name: "request-catch-up",
  text: `SELECT pg_notify('${channels.catchUpRequested}', $1)`,
};

function endOf(session: Client, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      signal.removeEventListener("abort", end);
      resolve();
    };
    session.on("error", end).on("end", end);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}

/** The head of content $1, and the bodies of the contracts with ids $2 of generation $3: one row at least if there is a state. */
export const bodiesStatement: Statement = {
  name: "bodies",
  text: `
SELECT s.generation, s.ledger_offset, s.update_id, b.contract_id, b.payload, b.views, b.created_event_blob
FROM offledger.state s
LEFT JOIN LATERAL (
  SELECT * FROM offledger.log_bodies b WHERE b.generation = $3::bigint AND b.contract_id = ANY ($2::text[]) OFFSET 0
) b ON true
WHERE s.content_hash = $1::uuid AND s.generation > 0`,
};

interface BodyRow {
  readonly generation: string;
  readonly ledger_offset: string;
  readonly update_id: string | null;
  /** NULL, as are the others, if no contract is found. */
  readonly contract_id: string | null;
  readonly payload: string;
  readonly views: string;
  readonly created_event_blob: string;
}
