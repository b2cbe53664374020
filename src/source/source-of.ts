/** The source that the configuration asks for. */
import type { Config } from "../config/config.js";
import { Decoder } from "../ledger/decode.js";
import type { Kind } from "../store/store.js";
import { inDatabase, type Roles } from "./in-database.js";
import { fileFeeder, snapshotPath } from "./file.js";
import { inMemory } from "./in-memory.js";
import { participantOf } from "./participant.js";
import type { Source } from "./source.js";

/** Throws the system's error where a file that the configuration names cannot be read. */
export async function sourceOf(
  config: Config,
  roles: Roles,
  kinds: readonly Kind[],
  now: () => number,
): Promise<Source> {
  const end = new AbortController();
  const decoder = new Decoder(kinds, config.totalSupply);
  const participant = await participantOf(config, kinds, decoder, now, end.signal);
  const feeder = participant?.feeder ?? fileFeeder(snapshotPath(config), decoder);
  const { databaseUrl } = config;
  if (databaseUrl === undefined) return inMemory(feeder, participant?.history, end);
  return inDatabase(config, databaseUrl, roles, kinds, feeder, participant?.history, end);
}
