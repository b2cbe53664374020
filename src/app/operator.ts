/** The operator's port: its warnings, its services and its server. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Logger } from "pino";
import type { Config } from "../config/config.js";
import { SettingError } from "../config/setting.js";
import type { Preparer } from "../domain/ledger.js";
import type { Source } from "../ingest/source.js";
import { ParticipantPreparer } from "../ledger/participant/prepare.js";
import { noToken, tokenFile } from "../ledger/participant/tokens.js";
import { type MonitorOptions, WarningMonitor } from "../registry/check/warning-monitor.js";
import type { QueryExecutor } from "../service/executor.js";
import { PartySearcher } from "../registry/party-search.js";
import type { Registry } from "../registry/sdk/registry.js";
import { consoleService } from "../service/console.js";
import { explain } from "../service/explain.js";
import type { ServiceBinding } from "../service/service-binding.js";
import { FreshnessHistory } from "../telemetry/freshness.js";
import type { RequestHistory } from "../telemetry/telemetry.js";
import { createExplainer, type ExplainerOptions } from "../transport/explainer.js";
import { CONSOLE_PATHS, consolePage } from "../transport/operator/console-page.js";
import { type OperatorServerOptions, startOperatorServer } from "../transport/operator/server.js";
import type { ServerOptions } from "../transport/server.js";
import { packageVersion } from "../util/package-files.js";
import { FileError } from "../util/reloaded-files.js";
import { participantOptions } from "./options.js";

/** The warnings. Undefined without the port, and for a registry without checks. */
export function monitorWarnings(
  { metricsPort }: Config,
  credentialDays: number,
  { checks }: Registry,
  source: Source,
  parts: Pick<MonitorOptions, "now" | "clock" | "standing">,
  log: Logger,
): WarningMonitor | undefined {
  if (metricsPort === undefined || checks === undefined) return undefined;
  return new WarningMonitor({ ...parts, checks, reader: source.reader, credentialDays, log });
}

interface OperatorOptions extends Pick<ExplainerOptions, "bindings" | "limits" | "now" | "rootRegistrar"> {
  readonly config: Config;
  readonly registry: Registry;
  readonly executor: QueryExecutor;
  readonly source: Source;
  /** Undefined for a registry without checks. */
  readonly warnings: WarningMonitor | undefined;
  readonly requests: RequestHistory;
  readonly log: Logger;
}

/**
 * Creates the services of the port, which sample the state of the source until they are closed. Throws the system's error if
 * the CA file of the participant cannot be read.
 */
export async function operatorServices(options: OperatorOptions) {
  const { config, log, registry, executor, source, warnings, requests, bindings, limits, now, rootRegistrar } = options;
  const end = new AbortController();
  const preparer = await createPreparer(config, end.signal);
  const freshness = new FreshnessHistory(() => source.status());
  const parties = new PartySearcher({
    searches: registry.lookup?.partySearches ?? [],
    reader: source.reader,
    staleReason: () => source.staleReason(),
    now,
  });
  const versionOf = (packageId: string) => registry.lookup?.packageVersion(packageId);
  const console = consoleService({
    executor,
    parties,
    packageVersion: versionOf,
    data: {
      version: packageVersion(),
      source: source.name,
      foreign: () => source.status().foreign,
      notReadyReason: () => source.notReadyReason(),
      // A registry without checks has no warnings.
      warnings: () => (warnings === undefined ? { total: 0, warnings: [] } : warnings.latest()),
      freshness: () => freshness.points(),
      requests: async () => ({
        since: timestampFromMs(requests.since),
        operations: await requests.counts.byOperation(),
      }),
      refusals: () => requests.refusals.latest(),
    },
  });
  const report = (defect: unknown, rpc?: string) => log.error({ err: defect, rpc }, "explanation failed");
  const explaining = explain({
    explainer: createExplainer({ bindings, limits, now, report, rootRegistrar }),
    refusals: requests.refusals,
    packageVersion: versionOf,
    preparer,
  });
  return {
    bindings: [console, explaining],
    close() {
      end.abort(new Error("the service is stopping"));
      freshness.close();
      parties.close();
    },
  };
}

/**
 * Has the configured participant prepare commands until `signal` is aborted; undefined if no user for it is configured. The
 * token of the mirror is not used. Throws the system's error if the CA file cannot be read.
 */
export async function createPreparer(config: Config, signal: AbortSignal): Promise<Preparer | undefined> {
  const { prepareUserId, prepareTokenFile } = config;
  if (prepareUserId === undefined) return undefined;
  const participant = await participantOptions(config);
  if (participant === undefined) return undefined;
  const { url, ca } = participant;
  const token = prepareTokenFile === undefined ? noToken : tokenFile(prepareTokenFile);
  return new ParticipantPreparer({ url, ca, token, signal }, prepareUserId);
}

/** Of `health`: a prober has no token, and asks from another machine. */
const PROBE_PATHS = ["/livez", "/readyz"];

/** What the composition root gives to the operator's port. */
interface Served extends Pick<OperatorServerOptions, "bindings" | "exposition"> {
  readonly health: ServiceBinding;
}

export interface RunningOperator {
  readonly metricsUrl: string;
  close(graceMs: number): Promise<void>;
}

/**
 * Starts the operator's port, with the certificate and the limits on messages of the public one. Throws SettingError if
 * the token or the address cannot be used; nothing keeps running then.
 */
export async function startOperator(
  { metricsPort, operatorTokenFile }: Config,
  { maxBodyBytes, compresses, arguments: limits, certificate }: Omit<ServerOptions, "log">,
  { bindings, health, exposition }: Served,
  log: Logger,
): Promise<RunningOperator> {
  const { host, port } = metricsPort ?? { host: "127.0.0.1", port: 0 };
  const shared = { maxBodyBytes, compresses, arguments: limits, certificate };
  // A process that answers nothing has nothing to show.
  const page = bindings.length === 0 ? {} : { routes: consolePage(compresses), openPaths: CONSOLE_PATHS };
  const served = { bindings: [...bindings, health], probePaths: PROBE_PATHS, exposition };
  try {
    const started = { ...served, ...shared, ...page, tokenFile: operatorTokenFile, host, port, log };
    const { url, close } = await startOperatorServer(started);
    const metricsUrl = `${url}/metrics`;
    log.info({ url: metricsUrl }, "metrics listening");
    return { metricsUrl, close };
  } catch (error) {
    if (error instanceof FileError) {
      const accepts = "the path of a file with a token of at least 16 characters";
      throw new SettingError("OFFLEDGER_OPERATOR_TOKEN_FILE", accepts, error.message);
    }
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw new SettingError("OFFLEDGER_METRICS_PORT", "a free port on a local address", error.message);
  }
}
