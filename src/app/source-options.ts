import { readFile } from "node:fs/promises";
import type { Config } from "../config/config.js";
import type { ParticipantOptions } from "../ingest/mirror/participant-ingestor.js";
import type { SourceOptions } from "../ingest/source/create-source.js";
import type { LedgerCredentials } from "../ledger/participant/tokens/token-source.js";
import { packageFile } from "../util/package-files.js";

const MEGABYTE = 1_000_000;

/** Maps settings to options of the source. Throws the system's error if the CA file cannot be read. */
export async function sourceOptions(config: Config): Promise<SourceOptions> {
  const { databaseUrl, databaseConnections, cacheMegabytes, unreadySeconds, staleSeconds, readWaitMs } = config;
  return {
    participant: await participantOptions(config),
    snapshotPath: snapshotPath(config),
    database:
      databaseUrl === undefined
        ? undefined
        : { url: databaseUrl, connections: databaseConnections, cacheBytes: cacheMegabytes * MEGABYTE },
    limits: { unreadyAfter: unreadySeconds * 1000, staleAfter: staleSeconds * 1000, readWait: readWaitMs },
    countsSupply: config.totalSupply,
    keepsOptional: config.keepHoldings,
  };
}

/** The snapshot file that is served without a participant; by default the demo of the registry. */
export function snapshotPath({ snapshot, registry }: Config): string {
  const demo = registry === "minimal" ? "minimal" : "registry";
  return snapshot ?? packageFile(`#demo/${demo}.ndjson`);
}

/** Undefined without a participant. Throws the system's error if the CA file cannot be read. */
export async function participantOptions(config: Config): Promise<ParticipantOptions | undefined> {
  const { ledgerUrl, ledgerParties = [], ledgerCaFile } = config;
  if (ledgerUrl === undefined) return undefined;
  const ca = ledgerCaFile === undefined ? undefined : await readFile(ledgerCaFile, "utf8");
  return { url: ledgerUrl, parties: ledgerParties, ca, credentials: ledgerCredentials(config) };
}

function ledgerCredentials(config: Config): LedgerCredentials | undefined {
  const { ledgerTokenFile, oidcIssuer, oidcClientId, oidcClientSecretFile, oidcAudience, oidcScope } = config;
  if (ledgerTokenFile !== undefined) return { tokenFile: ledgerTokenFile };
  if (oidcIssuer === undefined || oidcClientId === undefined || oidcClientSecretFile === undefined) return undefined;
  return {
    issuer: oidcIssuer,
    clientId: oidcClientId,
    secretFile: oidcClientSecretFile,
    audience: oidcAudience,
    scope: oidcScope,
  };
}
