import type { Source } from "../../ingest/source/source.js";
import type { QueryExecutor } from "../../registry/executor.js";
import { PartySearcher } from "../../registry/party-search.js";
import type { Registry } from "../../registry/sdk/registry.js";
import { consoleService } from "../../service/console/console.js";
import type { ServiceBinding } from "../../service/service-binding.js";
import { FreshnessHistory } from "../../telemetry/freshness-history.js";
import type { RequestHistory } from "../../telemetry/telemetry.js";
import type { MonitoredWarnings } from "./monitor-warnings.js";
import { packageVersion } from "../package-files.js";

export interface ConsoleOptions {
  readonly registry: Registry;
  readonly executor: QueryExecutor;
  readonly source: Source;
  /** Undefined for a registry without checks. */
  readonly warnings: MonitoredWarnings | undefined;
  readonly requests: RequestHistory;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface Console {
  readonly binding: ServiceBinding;
  close(): void;
}

/** Creates the console's service for the operator's port. It samples the state of the source until it is closed. */
export function createConsole({ registry, executor, source, warnings, requests, now }: ConsoleOptions): Console {
  const freshness = new FreshnessHistory(() => source.status());
  const parties = new PartySearcher({
    searches: registry.lookup?.partySearches ?? [],
    openScan: () => source.openScan(),
    staleReason: () => source.staleReason(),
    now,
  });
  const binding = consoleService({
    executor,
    parties,
    packageVersion: (packageId) => registry.lookup?.packageVersion(packageId),
    data: {
      version: packageVersion(),
      source: source.name,
      countsContracts: source.isInMemory,
      notReadyReason: () => source.notReadyReason(),
      // A registry without checks has no warnings.
      warnings: () => (warnings === undefined ? { total: 0, warnings: [] } : warnings.report()),
      freshness: () => freshness.points(),
      requests: async () => ({ since: requests.since, operations: await requests.counts.byOperation() }),
      refusals: () => requests.refusals.latest(),
    },
  });
  return {
    binding,
    close() {
      freshness.close();
      parties.close();
    },
  };
}
