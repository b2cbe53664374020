/** Tells the registry the versions of packages, as the participant knows them: package ids say nothing of them. */
import type { SourcePackages } from "../ingest/source/source.js";
import { NotReady } from "../store/port.js";
import type { Registry } from "../registry/sdk/registry.js";
import { abortablePause } from "../util/async.js";
import { errorMessage, type Logger } from "../util/logger.js";

/** How often the store is looked at for packages that have not been asked for: soon after the start, then rarely. */
const FIRST_MS = 1_000;
const INTERVAL_MS = 60_000;
const MAX_PACKAGES = 1_000;

export interface VersionSync {
  /** No call begins after it. One that is under way ends with the source. */
  close(): void;
}

/** Asks the catalog for the packages of the store's contracts, until it knows them. Never rejects. */
export function followPackageVersions(
  registry: Pick<Registry, "learnPackages">,
  packages: SourcePackages,
  log: Logger,
): VersionSync {
  const end = new AbortController();
  const pause = abortablePause(end.signal);
  const known = new Map<string, string>();
  const learnNew = async (): Promise<boolean> => {
    const stored = await packages.ids();
    const unknown = [...new Set(stored)].filter((id) => !known.has(id)).slice(0, MAX_PACKAGES);
    if (unknown.length === 0) return stored.length > 0;
    const versions = await packages.catalog.versions(unknown);
    for (const [id, { version }] of versions ?? []) known.set(id, version);
    registry.learnPackages?.(known);
    return true;
  };
  const run = async () => {
    let isLogged = false;
    for (let wait = FIRST_MS; !end.signal.aborted; await pause(wait)) {
      try {
        if (await learnNew()) wait = INTERVAL_MS;
      } catch (error) {
        // The store has no contracts yet, or the participant cannot be asked.
        wait = error instanceof NotReady ? FIRST_MS : INTERVAL_MS;
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
  return { close: () => end.abort() };
}
