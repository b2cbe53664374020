import type { Config } from "../config/config.js";
import { SettingError } from "../config/setting.js";
import { Certificate, CertificateError } from "../transport/certificate.js";
import { type Budgets, createBudgets } from "../transport/limits.js";
import type { ServerOptions } from "../transport/server.js";
import { packageVersion } from "./package-files.js";

/** Maps settings to options of the server. Throws SettingError if the certificate cannot be used. */
export async function serverOptions(
  config: Config,
  openApi: object,
): Promise<ServerOptions & { readonly budgets: Budgets }> {
  return {
    logLevel: config.logLevel,
    documentation: { openApi, version: packageVersion() },
    rootRegistrar: config.rootRegistrar,
    maxBodyBytes: config.maxBodyBytes,
    compresses: config.compression === "gzip",
    connections: {
      maxHeaderBytes: config.maxHeaderBytes,
      requestMs: config.requestSeconds * 1000,
      maxConnections: config.maxConnections,
      maxStreams: config.maxStreams,
      // A request waits for the turn in which it arrives, and a new connection for another.
      ...(config.maxDelayMs > 0 && { turnMs: config.maxDelayMs / 2 }),
    },
    budgets: createBudgets({
      bodyMegabytes: config.maxBodyMegabytes,
      responseMegabytes: config.maxResponseMegabytes,
      requests: config.maxRequests,
    }),
    hooks: {
      corsOrigins: config.corsOrigins,
      maxPathBytes: config.maxPathBytes,
      maxDelayMs: config.maxDelayMs,
      rates: { perClient: config.ratePerClient, inAll: config.rateInAll },
    },
    arguments: { depth: config.maxArgumentDepth, keys: config.maxArgumentKeys },
    trustedProxies: config.trustedProxies,
    certificate: await readCertificate(config),
  };
}

async function readCertificate({ tlsCertFile, tlsKeyFile }: Config): Promise<Certificate | undefined> {
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return undefined;
  try {
    return await Certificate.read(tlsCertFile, tlsKeyFile);
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    throw new SettingError("OFFLEDGER_TLS_CERT_FILE", "the path of a PEM file", error.message);
  }
}
