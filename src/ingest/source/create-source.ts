/** The source that the configuration asks for. */
import type { Config } from "../../config/config.js";
import { Decoder } from "../../ledger/decode.js";
import type { Template } from "../../domain/template.js";
import { databaseSource, type Roles } from "./database-source.js";
import { fileIngestor, snapshotPath } from "../file/file-ingestor.js";
import { memorySource } from "./memory-source.js";
import { connectParticipant } from "../mirror/participant-ingestor.js";
import type { Source } from "./source.js";

/** Throws the system's error where a file that the configuration names cannot be read. */
export async function createSource(
  config: Config,
  roles: Roles,
  templates: readonly Template[],
  now: () => number,
): Promise<Source> {
  const end = new AbortController();
  const decoder = new Decoder(templates, config.totalSupply);
  const participant = await connectParticipant(config, templates, decoder, now, end.signal);
  const ingestor = participant?.ingestor ?? fileIngestor(snapshotPath(config), decoder);
  const { databaseUrl } = config;
  if (databaseUrl === undefined) return memorySource(ingestor, participant?.history, end);
  return databaseSource(config, databaseUrl, roles, templates, ingestor, participant?.history, end);
}
