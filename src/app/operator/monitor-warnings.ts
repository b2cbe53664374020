import type { Config } from "../../config/config.js";
import type { Source } from "../../ingest/source/source.js";
import { reportJson, WarningMonitor, type WarningReport } from "../../registry/check/warning-monitor.js";
import type { Registry } from "../../registry/sdk/registry.js";
import type { WarningSource } from "../../telemetry/metrics.js";
import type { Logger } from "../../util/logger.js";

/** How long `GET /warnings` waits for a check that is running. Small registries are checked within it. */
const MAX_WAIT_MS = 2_000;

export interface MonitoredWarnings extends WarningSource {
  /** As `latest`, with the warnings themselves. */
  report(): WarningReport | undefined;
  close(): Promise<void>;
}

/** The warnings for the operator's port. Undefined without that port, and for a registry without checks. */
export function monitorWarnings(
  { metricsPort, credentialDays }: Config,
  { checks }: Registry,
  source: Source,
  now: () => number,
  log: Logger,
): MonitoredWarnings | undefined {
  if (metricsPort === undefined || checks === undefined) return undefined;
  const monitor = new WarningMonitor({ checks, openScan: () => source.openScan(), credentialDays, now, log });
  return {
    latest: () => monitor.latest(),
    report: () => monitor.latest(),
    async list() {
      const report = await monitor.current(MAX_WAIT_MS);
      return report === undefined ? undefined : reportJson(report);
    },
    close: () => monitor.close(),
  };
}
