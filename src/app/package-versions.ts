/** The versions of the packages of the contracts, which the registry learns from the participant. */
import type { SourcePackages } from "../ingest/source.js";
import type { Registry } from "../registry/sdk/registry.js";
import { NotReady } from "../state/port.js";
import { abortablePause } from "../util/async.js";
import { errorMessage, type Logger } from "../util/logger.js";

/** How often the store is looked at for packages that have not been asked for: soon after the start, then rarely. */
const FIRST_MS = 1_000;
const INTERVAL_MS = 60_000;
const MAX_PACKAGES = 1_000;
/** How long a service that has contracts waits for the first versions before it is ready. */
const MAX_WAIT_MS = 10_000;
/** How often the store is looked at for its first contracts. */
const POLL_MS = 100;

export interface VersionSync {
  /** Whether the participant was asked for the first versions, or did not answer in time. */
  readonly isSettled: boolean;
  /** No call begins after it. One that is under way ends with the source. */
  close(): void;
}

/**
 * Tells the registry the versions of the packages of the store's contracts, as the participant knows them: package ids say
 * nothing of them. It asks once `isCurrent`, when the store has a state to answer from. Never rejects.
 */
export function followPackageVersions(
  registry: Pick<Registry, "learnPackages">,
  packages: SourcePackages,
  isCurrent: () => boolean,
  log: Logger,
  maxWaitMs: number = MAX_WAIT_MS,
): VersionSync {
  const end = new AbortController();
  const pause = abortablePause(end.signal);
  const known = new Map<string, string>();
  let isSettled = false;
  /** Whether the first wait is not over. What a mirror stores for its replicas may come a little later than the contracts. */
  let isEarly = true;
  /** Whether nothing is left to learn. */
  const learnNew = async (): Promise<boolean> => {
    const stored = new Set(await packages.ids());
    const unknown = [...stored].filter((id) => !known.has(id)).slice(0, MAX_PACKAGES);
    if (unknown.length === 0) return stored.size > 0;
    const versions = await packages.catalog.versions(unknown);
    for (const [id, { version }] of versions ?? []) known.set(id, version);
    registry.learnPackages?.(known);
    return unknown.every((id) => known.has(id));
  };
  const endFirstWait = async () => {
    await pause(maxWaitMs);
    isEarly = false;
    if (isSettled || end.signal.aborted) return;
    isSettled = true;
    log.warn({ waitedMs: maxWaitMs }, "versions of packages not known yet: the service is ready without them");
  };
  const run = async () => {
    while (!isCurrent() && !end.signal.aborted) await pause(POLL_MS);
    // It never rejects.
    void endFirstWait();
    let isLogged = false;
    for (let wait = FIRST_MS; !end.signal.aborted; await pause(wait)) {
      try {
        const hasAll = await learnNew();
        isSettled = true;
        wait = isEarly && !hasAll ? FIRST_MS : INTERVAL_MS;
      } catch (error) {
        // The store has no contracts yet, or the participant cannot be asked.
        wait = isEarly || error instanceof NotReady ? FIRST_MS : INTERVAL_MS;
        if (error instanceof NotReady || isLogged) continue;
        isLogged = true;
        log.warn(
          { reason: errorMessage(error) },
          "versions of packages not read: those that are not published count as current",
        );
      }
    }
  };
  // It never rejects.
  void run();
  return {
    get isSettled() {
      return isSettled;
    },
    close: () => end.abort(),
  };
}
