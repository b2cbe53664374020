/** A participant, by its JSON Ledger API. */
import { setTimeout as delay } from "node:timers/promises";
import { readFile } from "node:fs/promises";
import type { Config } from "../config/config.js";
import type { Decoder } from "../ledger/decode.js";
import type { Log } from "../ledger/log.js";
import { ParticipantClient } from "../ledger/participant/client.js";
import { LedgerError } from "../ledger/participant/errors.js";
import { ParticipantHistory } from "../ledger/participant/history.js";
import { Mirror } from "../ledger/participant/mirror.js";
import { Progress, type ProgressLimits } from "../ledger/participant/progress.js";
import { clientCredentials, noToken, tokenFile, type TokenSource } from "../ledger/participant/tokens.js";
import { unavailable } from "../registry/errors.js";
import type { History } from "../registry/history.js";
import type { Kind } from "../store/store.js";
import type { Feeder, Feeding } from "./feeder.js";

/** The limits that the configuration sets, in milliseconds. */
export const limitsOf = ({ unreadySeconds, staleSeconds, readWaitMs }: Config): ProgressLimits => ({
  unreadyAfter: unreadySeconds * 1000,
  staleAfter: staleSeconds * 1000,
  readWait: readWaitMs,
});

/** Waits; ends early, and does not throw, when the signal is aborted. */
export const pausing =
  (signal: AbortSignal) =>
  async (milliseconds: number): Promise<void> => {
    await delay(milliseconds, undefined, { signal }).catch(() => undefined);
  };

/** A participant, for a process that follows it, or only asks it for what has been. */
export interface Participant {
  readonly feeder: Feeder;
  /** `log` tells of a participant that fails. */
  readonly history: (log: () => Log | undefined) => History;
}

/** Undefined where the configuration names none. Throws the system's error where a file that it names cannot be read. */
export async function participantOf(
  config: Config,
  kinds: readonly Kind[],
  decoder: Decoder,
  now: () => number,
  signal: AbortSignal,
): Promise<Participant | undefined> {
  const { ledgerUrl, ledgerParties = [], ledgerCaFile } = config;
  if (ledgerUrl === undefined) return undefined;
  const ca = ledgerCaFile === undefined ? undefined : await readFile(ledgerCaFile, "utf8");
  const token = tokensOf(config, ca, signal, now);
  const endpointFor = (until: AbortSignal) => ({ url: ledgerUrl, ca, token, signal: until });
  let followed: Progress | undefined;
  let earlier = 0;
  const reconnects = () => earlier + (followed?.reconnects ?? 0);
  return {
    feeder: {
      name: ledgerUrl.href,
      origin: `participant of ${ledgerParties.toSorted().join(", ")}`,
      reconnects,
      feed(writer, log, until): Feeding {
        const progress = new Progress(limitsOf(config), now);
        // A store in a database is fed anew for each term.
        earlier = reconnects();
        followed = progress;
        const ledger = new ParticipantClient(endpointFor(until), ledgerParties, kinds);
        const pause = pausing(until);
        const parts = { ledger, decoder, writer, progress, log, now, random: Math.random, pause, signal: until };
        return {
          begun: Promise.resolve(),
          refusal: () => progress.refusal(),
          unreadiness: () => progress.unreadiness(),
          catchUp: (offset) => progress.catchUp(offset, () => ledger.ledgerEnd()),
          offset: () => progress.standing.offset,
          age: () => progress.standing.age,
          ended: new Mirror(parts).run(),
        };
      },
    },
    history: (log) => {
      const options = { longest: config.readWaitMs, now: Date.now, pause: pausing(signal) };
      const history = new ParticipantHistory(endpointFor(signal), ledgerParties, options);
      return {
        update: (which, ofKinds) => orUnavailable(history.update(which, ofKinds), log()),
        creation: (contractId, ofKinds) => orUnavailable(history.creation(contractId, ofKinds), log()),
        again: (question) => history.again(question),
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
      { trouble: error.trouble, reason: error.message },
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
