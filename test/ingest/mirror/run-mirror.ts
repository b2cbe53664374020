/** Mirrors of scripted participants; on real sockets, with shorter delays. */
import { setTimeout as delay } from "node:timers/promises";
import { Decoder } from "../../../src/ledger/decode.js";
import { type Ledger, ParticipantClient } from "../../../src/ledger/participant/client.js";
import type { Timeouts } from "../../../src/ledger/participant/http.js";
import { Mirror, type MirrorOptions } from "../../../src/ingest/mirror.js";
import { LagTracker, type StalenessLimits } from "../../../src/ingest/lag.js";
import { namedParties } from "../../../src/ledger/participant/parties.js";
import { noToken, type TokenSource } from "../../../src/ledger/participant/tokens.js";
import { templates } from "../../../src/registry/utility/templates.js";
import { MemoryStore } from "../../../src/state/memory-store.js";
import type { Contract } from "../../../src/domain/contract.js";
import type { Template } from "../../../src/domain/template.js";
import { Participant } from "../../scripted-participant/participant.js";

export const operator = "operator::1220";

/** Divides the delays, which suit real networks. */
const SPEEDUP = 50;

export interface RunningMirror {
  readonly mirror: Mirror;
  readonly store: MemoryStore;
  readonly lag: LagTracker;
  /** What was logged, as `level message details`. */
  readonly logged: string[];
  /** The stored contracts of the registry's templates, by contract id. */
  held(): Promise<ReadonlyMap<string, Contract>>;
  stop(): Promise<void>;
}

/**
 * Starts a participant, optionally on its previous port. Another test may have taken
 * the port in between: then this waits for it.
 */
export async function participantOn(options: Parameters<typeof Participant.start>[0]): Promise<Participant> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await Participant.start(options);
    } catch (error) {
      const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
      if (!isTaken || attempt === 100) throw error;
      await delay(50);
    }
  }
}

const timeouts: Timeouts = { answer: 2_000, open: 2_000, ping: 100, message: 200 };

const LIMITS: StalenessLimits = { unreadyAfter: 1_000, staleAfter: 2_000 };

/** Mirrors some templates into a store. `logged` has lines of `level message details`. */
export function mirrorOn(
  ledger: Ledger,
  mirrored: readonly Template[],
  limits: StalenessLimits,
  options: Pick<MirrorOptions, "writer" | "readWait" | "now" | "clock" | "random" | "pause" | "signal">,
  log: (line: string) => void,
  decoder = new Decoder(mirrored),
) {
  const note = (level: string) => (details: object, message: string) =>
    log(`${level} ${message} ${JSON.stringify(details)}`);
  const lag = new LagTracker(limits, options.clock, () => ledger.ledgerEnd(), options.writer.checkpoint?.offset);
  const mirror = new Mirror({
    ...options,
    ledger,
    decoder,
    lag,
    log: { info: note("info"), warn: note("warn"), error: note("error") },
  });
  return { mirror, lag, running: mirror.run() };
}

/** A mirror of the Registry Utility. */
export function startMirror(
  url: string,
  parties: readonly string[] = [operator],
  token: TokenSource = noToken,
  staleness: StalenessLimits = LIMITS,
): RunningMirror {
  const end = new AbortController();
  const { signal } = end;
  const store = new MemoryStore();
  const logged: string[] = [];
  const ledger = new ParticipantClient(
    { url: new URL(url), ca: undefined, token, signal, timeouts },
    namedParties(parties),
    templates,
  );
  const pause = (ms: number) => delay(ms / SPEEDUP, undefined, { signal }).catch(() => undefined);
  const options = {
    writer: store,
    readWait: 1_000,
    now: Date.now,
    clock: () => performance.now(),
    random: Math.random,
    pause,
    signal,
  };
  const { mirror, lag, running } = mirrorOn(ledger, templates, staleness, options, (line) => void logged.push(line));
  return {
    mirror,
    store,
    lag,
    logged,
    held: async () =>
      store.read((view) => {
        const contracts = templates.flatMap((template) => view.all(template));
        return new Map(contracts.map((contract) => [contract.contractId, contract]));
      }),
    async stop() {
      end.abort();
      await running;
    },
  };
}
