/** The settings by which the operator's port of a service on this machine is reached. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Config } from "../config/config.js";
import { SettingError } from "../config/setting.js";
import { messageOf } from "./failure.js";
import { localAddress } from "./local-address.js";

/** The base URL of the operator's port. Throws SettingError if the settings do not say which it is. */
export function operatorUrl({ metricsHost, metricsPort, tlsCertFile }: Config): URL {
  if (metricsPort === undefined || metricsPort === 0) {
    const reason = metricsPort === 0 ? "it is 0, which selects a free port" : "it is not set";
    throw new SettingError("OFFLEDGER_METRICS_PORT", "the port on which the service has its operator's port", reason);
  }
  const address = localAddress(metricsHost);
  const host = address.includes(":") ? `[${address}]` : address;
  return new URL(`${tlsCertFile === undefined ? "http" : "https"}://${host}:${metricsPort}`);
}

/** The header with the operator's token, if one is set. Throws SettingError. */
export async function authorization({ operatorTokenFile: path }: Config): Promise<{ authorization?: string }> {
  if (path === undefined) return {};
  const accepts = "the path of a readable file with the operator's token";
  const token = (await readSetting("OFFLEDGER_OPERATOR_TOKEN_FILE", accepts, path)).trim();
  if (/^[!-~]+$/.test(token)) return { authorization: `Bearer ${token}` };
  throw new SettingError("OFFLEDGER_OPERATOR_TOKEN_FILE", accepts, `${path} has none`);
}

/** The certificate of the service, if it serves TLS. Throws SettingError. */
export async function readCertificate({ tlsCertFile: path }: Config): Promise<X509Certificate | undefined> {
  if (path === undefined) return undefined;
  const accepts = "the path of a readable PEM file";
  const pem = await readSetting("OFFLEDGER_TLS_CERT_FILE", accepts, path);
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new SettingError("OFFLEDGER_TLS_CERT_FILE", accepts, messageOf(error));
  }
}

async function readSetting(variable: string, accepts: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new SettingError(variable, accepts, messageOf(error));
  }
}
