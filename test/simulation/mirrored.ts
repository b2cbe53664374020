/** A mirror in virtual time, with what it has logged. */
import { onTestFinished } from "vitest";
import type { StalenessLimits } from "../../src/ingest/lag.js";
import type { UpdateStream } from "../../src/ledger/participant/client.js";
import type { LedgerError } from "../../src/ledger/participant/errors.js";
import { Decoder } from "../../src/ledger/decode.js";
import { templates } from "../../src/registry/utility/templates.js";
import { MemoryStore } from "../../src/state/memory-store.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Random } from "../ingest/database/random.js";
import { mirrorOn } from "../ingest/mirror/run-mirror.js";
import { VirtualClient } from "./client.js";
import { VirtualClock } from "./clock.js";
import { VirtualParticipant } from "./participant.js";
import { offer, operator } from "./script.js";

const APP = "utility-registry-app-v0";

/** Counts reads of the end, and notes fetches. */
class Client extends VirtualClient {
  reads = 0;
  readonly fetches: { readonly after: number; readonly upTo: number }[] = [];
  endFailure: LedgerError | undefined;
  /** What becomes of the followed stream. */
  breakStream = (_stream: UpdateStream): void => undefined;
  /** Replaces fetches. */
  fetch = (stream: UpdateStream): UpdateStream => stream;

  override ledgerEnd(): Promise<number> {
    this.reads++;
    return this.endFailure === undefined ? super.ledgerEnd() : Promise.reject(this.endFailure);
  }

  override async updates(after: number, upTo?: number): Promise<UpdateStream> {
    if (upTo !== undefined) this.fetches.push({ after, upTo });
    const stream = await super.updates(after, upTo);
    if (upTo !== undefined) return this.fetch(stream);
    this.breakStream(stream);
    return stream;
  }
}

interface MirroredOptions {
  readonly asked?: readonly string[];
  /** Those of the packages asked for that the participant has. */
  readonly packageNames?: readonly string[];
  /** The parties of its user, which may change. */
  readonly rights?: VirtualClient["rights"];
  readonly checkpointMs?: number;
  readonly limits?: StalenessLimits;
}

/** A mirror of an offer, in virtual time. */
export function mirrored({
  asked = [APP],
  packageNames = asked,
  rights,
  checkpointMs = 1_000,
  limits = { unreadyAfter: 30_000, staleAfter: 300_000 },
}: MirroredOptions = {}) {
  const clock = new VirtualClock();
  const restoreTimers = clock.install();
  const ledger = new ScriptedLedger();
  ledger.transact([{ create: offer("first") }]);
  const participant = new VirtualParticipant(clock, new Random(1), ledger, packageNames, checkpointMs);
  const ofPackages = templates.filter((template) => asked.includes(template.packageName));
  const end = new AbortController();
  const { signal } = end;
  const client = new Client(participant, [operator], ofPackages, signal, rights);
  const pause = (ms: number) => clock.pause(ms, signal);
  const [begun, now] = [clock.now, () => clock.now];
  const store = new MemoryStore();
  const options = { writer: store, readWait: 1_000, now, clock: now, random: () => 1, pause, signal };
  const logged: string[] = [];
  /** When a snapshot was loaded, in milliseconds since the start. */
  const snapshots: number[] = [];
  const decoder = new Decoder(ofPackages);
  const { mirror, lag, running } = mirrorOn(
    client,
    ofPackages,
    limits,
    options,
    (line) => {
      logged.push(line);
      if (line.startsWith("info snapshot of the ledger loaded")) snapshots.push(clock.now - begun);
    },
    decoder,
  );
  onTestFinished(async () => {
    end.abort();
    await clock.advance(600_000, () => undefined);
    await running;
    restoreTimers();
  });
  return {
    clock,
    ledger,
    store,
    decoder,
    client,
    participant,
    snapshots,
    logged,
    mirror,
    lag,
    advance: (ms: number, check: () => void = () => undefined) => clock.advance(ms, check),
  };
}
