/** Maps settings to the options of the server and of the source. */
import { readFile } from "node:fs/promises";
import { securedDocument } from "../auth/auth.js";
import type { Config } from "../config/config.js";
import { type AppConfig, limitsOf } from "../config/limits.js";
import { SettingError } from "../config/setting.js";
import type { JsonObject } from "../util/json.js";
import type { KeptContracts } from "../domain/ledger.js";
import type { ParticipantOptions, SourceOptions } from "../ingest/create-source.js";
import type { LedgerCredentials } from "../ledger/participant/tokens.js";
import { type Certificate, readCertificate } from "../transport/sockets.js";
import { type Budgets, createBudgets, fittingConnections } from "../transport/limits.js";
import type { ServerOptions } from "../transport/server.js";
import { packageFile, packageVersion, readPackageFile } from "../util/package-files.js";
import { FileError } from "../util/reloaded-files.js";

/** The OpenAPI document of this service: it says which operations need a token, and which registrar the root serves. */
export function openApiDocument({ rootRegistrar, authJwksUrl, authOperations }: Config): JsonObject {
  const document = JSON.parse(readPackageFile("#openapi.json")) as JsonObject & {
    readonly info: { description: string } & JsonObject;
  };
  if (rootRegistrar !== undefined) {
    const name = rootRegistrar === "user" ? "the registry's only registrar" : rootRegistrar;
    const sentence = `The token-standard operations of ${name} are also served at /registry/…, without a registrar in the path.`;
    document.info.description += ` ${sentence}`;
  }
  return authJwksUrl === undefined ? document : securedDocument(document, authOperations);
}

/** Throws SettingError if the certificate cannot be used. */
export async function serverOptions(
  config: AppConfig,
  openApi: object,
): Promise<Omit<ServerOptions, "log"> & { readonly budgets: Budgets }> {
  const limits = limitsOf(config);
  return {
    documentation: { openApi, version: packageVersion() },
    maxBodyBytes: limits.maxBodyBytes,
    compresses: limits.compresses,
    connections: {
      maxHeaderBytes: limits.maxHeaderBytes,
      requestMs: limits.requestSeconds * 1000,
      maxConnections: Math.min(
        limits.maxConnections,
        fittingConnections(config.tlsCertFile === undefined ? "cleartext" : "tls"),
      ),
      maxStreams: limits.maxStreams,
      // A request waits for the turn in which it arrives, and a new connection for another.
      ...(config.maxDelayMs > 0 && { turnMs: config.maxDelayMs / 2 }),
    },
    budgets: createBudgets({ requests: limits.maxRequests, streams: limits.maxStreamUnits }),
    admission: { corsOrigins: config.corsOrigins, maxPathBytes: limits.maxPathBytes, maxDelayMs: config.maxDelayMs },
    arguments: { depth: limits.maxArgumentDepth, keys: limits.maxArgumentKeys },
    trustedProxies: config.trustedProxies,
    certificate: await certificateOf(config),
  };
}

async function certificateOf({ tlsCertFile, tlsKeyFile }: Config): Promise<Certificate | undefined> {
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return undefined;
  try {
    return await readCertificate(tlsCertFile, tlsKeyFile);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new SettingError("OFFLEDGER_TLS_CERT_FILE", "the path of a PEM file", error.message);
  }
}

/** Throws the system's error if the CA file cannot be read. */
export async function sourceOptions(config: AppConfig): Promise<SourceOptions> {
  const limits = limitsOf(config);
  const { databaseUrl, databaseConnections, databasePasswordFile, staleSeconds } = config;
  return {
    participant: await participantOptions(config),
    snapshotPath: snapshotPath(config),
    database:
      databaseUrl === undefined
        ? undefined
        : {
            url: databaseUrl,
            passwordFile: databasePasswordFile,
            connections: databaseConnections,
            cacheBytes: limits.cacheBytes,
          },
    limits: {
      unreadyAfter: Math.min(limits.unreadySeconds, staleSeconds) * 1000,
      staleAfter: staleSeconds * 1000,
      readWait: limits.readWaitMs,
    },
    kept: keptContracts(config),
  };
}

export const keptContracts = ({ totalSupply, keepHoldings, ledgerUrl, registrars = [] }: Config): KeptContracts => ({
  countsSupply: totalSupply,
  keepsOptional: keepHoldings,
  keepsReadById: ledgerUrl === undefined,
  registrars,
});

/** The snapshot file that is served without a participant; by default the demo of the registry. */
export const snapshotPath = ({ snapshot, registry }: Config): string =>
  snapshot ?? packageFile(registry === "minimal" ? "#demo/minimal.ndjson" : "#demo/registry.ndjson");

/** Undefined without a participant. Throws the system's error if the CA file cannot be read. */
export async function participantOptions(config: Config): Promise<ParticipantOptions | undefined> {
  const { ledgerUrl, ledgerParties = [], ledgerCaFile, wait: waits } = config;
  if (ledgerUrl === undefined) return undefined;
  const ca = ledgerCaFile === undefined ? undefined : await readFile(ledgerCaFile, "utf8");
  return { url: ledgerUrl, parties: ledgerParties, ca, waits, credentials: ledgerCredentials(config) };
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
