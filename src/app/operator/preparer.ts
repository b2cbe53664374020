import type { Config } from "../../config/config.js";
import type { Preparer } from "../../domain/ledger.js";
import { ParticipantPreparer } from "../../ledger/participant/prepare.js";
import { tokenFile } from "../../ledger/participant/tokens/token-file.js";
import { noToken } from "../../ledger/participant/tokens/token-source.js";
import type { ShutdownSequence } from "../shutdown-sequence.js";
import { participantOptions } from "../source-options.js";

/**
 * Has the configured participant prepare commands; undefined if no user for it is configured. The token of the mirror is
 * not used. Throws the system's error if the CA file cannot be read.
 */
export async function createPreparer(config: Config, shutdown: ShutdownSequence): Promise<Preparer | undefined> {
  const { prepareUserId, prepareTokenFile } = config;
  if (prepareUserId === undefined) return undefined;
  const participant = await participantOptions(config);
  if (participant === undefined) return undefined;
  const { url, ca } = participant;
  const end = new AbortController();
  shutdown.add(async () => end.abort(new Error("the service is stopping")));
  const token = prepareTokenFile === undefined ? noToken : tokenFile(prepareTokenFile);
  return new ParticipantPreparer({ url, ca, token, signal: end.signal }, prepareUserId);
}
