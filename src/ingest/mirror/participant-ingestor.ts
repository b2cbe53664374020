/** A participant, by its JSON Ledger API. */
import { setTimeout as delay } from "node:timers/promises";
import { readFile } from "node:fs/promises";
import type { Config } from "../../config/config.js";
import type { Decoder } from "../../ledger/decode.js";
import type { Log } from "../../ledger/log.js";
import { ParticipantClient } from "../../ledger/participant/client.js";
import { LedgerError } from "../../ledger/participant/errors.js";
import { ParticipantHistory } from "../../ledger/participant/history.js";
import { Mirror } from "./mirror.js";
import { LagTracker, type LagLimits } from "./lag-tracker.js";
import { clientCredentials, noToken, tokenFile, type TokenSource } from "../../ledger/participant/tokens.js";
import { unavailable } from "../../domain/errors.js";
import type { History } from "../../registry/sdk/history.js";
import type { Template } from "../../domain/template.js";
import type { Ingestor, Ingestion } from "../ingestor.js";

/** The limits that the configuration sets, in milliseconds. */
export const lagLimits = ({ unreadySeconds, staleSeconds, readWaitMs }: Config): LagLimits => ({
  unreadyAfter: unreadySeconds * 1000,
  staleAfter: staleSeconds * 1000,
  readWait: readWaitMs,
});

/** Waits; ends early, and does not throw, when the signal is aborted. */
export const abortablePause =
  (signal: AbortSignal) =>
  async (milliseconds: number): Promise<void> => {
    await delay(milliseconds, undefined, { signal }).catch(() => undefined);
  };

/** A participant, for a process that follows it, or only asks it for what has been. */
export interface ParticipantConnection {
  readonly ingestor: Ingestor;
  /** `log` tells of a participant that fails. */
  readonly history: (log: () => Log | undefined) => History;
}

/** Undefined where the configuration names none. Throws the system's error where a file that it names cannot be read. */
export async function connectParticipant(
  config: Config,
  templates: readonly Template[],
  decoder: Decoder,
  now: () => number,
  signal: AbortSignal,
): Promise<ParticipantConnection | undefined> {
  const { ledgerUrl, ledgerParties = [], ledgerCaFile } = config;
  if (ledgerUrl === undefined) return undefined;
  const ca = ledgerCaFile === undefined ? undefined : await readFile(ledgerCaFile, "utf8");
  const token = tokensOf(config, ca, signal, now);
  const endpointFor = (until: AbortSignal) => ({ url: ledgerUrl, ca, token, signal: until });
  let followed: LagTracker | undefined;
  let earlier = 0;
  const reconnects = () => earlier + (followed?.reconnects ?? 0);
  return {
    ingestor: {
      name: ledgerUrl.href,
      origin: `participant of ${ledgerParties.toSorted().join(", ")}`,
      reconnects,
      start(writer, log, until): Ingestion {
        const lag = new LagTracker(lagLimits(config), now);
        // A store in a database is fed anew for each term.
        earlier = reconnects();
        followed = lag;
        const ledger = new ParticipantClient(endpointFor(until), ledgerParties, templates);
        const pause = abortablePause(until);
        const parts = { ledger, decoder, writer, lag: lag, log, now, random: Math.random, pause, signal: until };
        return {
          started: Promise.resolve(),
          staleReason: () => lag.staleReason(),
          notReadyReason: () => lag.notReadyReason(),
          catchUp: (offset) => lag.catchUp(offset, () => ledger.ledgerEnd()),
          offset: () => lag.status.offset,
          age: () => lag.status.age,
          ended: new Mirror(parts).run(),
        };
      },
    },
    history: (log) => {
      const options = { maxWait: config.readWaitMs, now: Date.now, pause: abortablePause(signal) };
      const history = new ParticipantHistory(endpointFor(signal), ledgerParties, options);
      return {
        update: (which, ofKinds) => orUnavailable(history.update(which, ofKinds), log()),
        creation: (contractId, ofKinds) => orUnavailable(history.creation(contractId, ofKinds), log()),
        pollUntil: (question) => history.pollUntil(question),
      };
    },
  };
}

/** A participant that fails is no fault of the request's; what it says is for the operator alone. */
async function orUnavailable<T>(looking: Promise<T>, log: Log | undefined): Promise<T> {
  try {
    return await looking;
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    log?.warn(
      { trouble: error.kind, reason: error.message },
      "a transfer cannot be proven: the ledger does not answer",
    );
    throw unavailable("the ledger cannot be asked for its updates now");
  }
}

function tokensOf(
  { ledgerTokenFile, oidcIssuer, oidcClientId, oidcClientSecretFile, oidcAudience }: Config,
  ca: string | undefined,
  signal: AbortSignal,
  now: () => number,
): TokenSource {
  if (ledgerTokenFile !== undefined) return tokenFile(ledgerTokenFile);
  if (oidcIssuer === undefined || oidcClientId === undefined || oidcClientSecretFile === undefined) return noToken;
  const credentials = {
    issuer: oidcIssuer,
    clientId: oidcClientId,
    secretFile: oidcClientSecretFile,
    audience: oidcAudience,
  };
  return clientCredentials(credentials, ca, signal, now);
}
