import type { Template } from "../../domain/template.js";
import { Decoder } from "../../ledger/decode.js";
import { fileIngestor } from "../file/file-ingestor.js";
import type { LagLimits } from "../mirror/lag-tracker.js";
import { connectParticipant, type ParticipantOptions } from "../mirror/participant-ingestor.js";
import { type DatabaseOptions, databaseSource, type Roles } from "./database-source.js";
import { memorySource } from "./memory-source.js";
import type { Source } from "./source.js";

export interface SourceOptions {
  /** Undefined to serve the snapshot file. */
  readonly participant: ParticipantOptions | undefined;
  readonly snapshotPath: string;
  /** Undefined to keep the contracts in memory. */
  readonly database: DatabaseOptions | undefined;
  readonly limits: LagLimits;
  readonly countsSupply: boolean;
  /** Whether contracts are stored that only some services need. */
  readonly keepsOptional: boolean;
}

/** Creates the source that the options describe, not yet started. `now` is in milliseconds since 1970. */
export function createSource(
  { participant, snapshotPath, database, limits, countsSupply, keepsOptional }: SourceOptions,
  roles: Roles,
  templates: readonly Template[],
  now: () => number,
): Source {
  const end = new AbortController();
  const decoder = new Decoder(templates, countsSupply, keepsOptional);
  const connection =
    participant === undefined
      ? undefined
      : connectParticipant(participant, limits, templates, decoder, now, end.signal);
  const ingestor = connection?.ingestor ?? fileIngestor(snapshotPath, decoder);
  if (database === undefined) return memorySource(ingestor, connection, end);
  return databaseSource({
    ...database,
    roles,
    limits,
    templates,
    countsSupply,
    keepsOptional,
    ingestor,
    connection,
    end,
  });
}
