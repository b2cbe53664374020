import { boolean, hostName, integer, nonEmpty, oneOf, party } from "../parsers.js";
import { count, optional, seconds, setting } from "./setting.js";

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

const compressions = ["gzip", "off"] as const;
export type Compression = (typeof compressions)[number];

export const serviceSettings = {
  host: setting("host", {
    accepts: "an address or host name",
    description: "address to listen on",
    default: "127.0.0.1",
    parse: hostName,
  }),
  port: setting("port", {
    accepts: "a number from 0 to 65535",
    description: "port to listen on; 0 selects a free port",
    default: 8080,
    parse: integer(0, 65_535),
  }),
  snapshot: optional("snapshot", {
    accepts: "the path of a file of active contracts",
    description: "file of active contracts to serve",
    parse: nonEmpty,
    defaultLabel: "the demo registry",
  }),
  registry: setting("registry", {
    accepts: "utility, minimal, or the path of a registry file or a JavaScript module",
    description: "registry to serve: the Registry Utility, the minimal example, or a file or module of your own",
    default: "utility",
    parse: nonEmpty,
  }),
  rootRegistrar: optional("root-registrar", {
    accepts: "a party id (hint::fingerprint)",
    description: "registrar whose token-standard operations are also served at /registry/…",
    parse: party,
  }),
  instruments: optional("instruments", {
    accepts: "the path of a YAML file",
    description: "file with names, symbols, decimals, descriptions and hints for wallets of instruments",
    parse: nonEmpty,
  }),
  contexts: optional("contexts", {
    accepts: "the path of a YAML file",
    description: "file that changes the choice contexts of the Registry Utility",
    parse: nonEmpty,
  }),
  totalSupply: setting<boolean>("total-supply", {
    accepts: "true or false",
    description: "whether to count holdings and report the total supply of instruments",
    default: false,
    parse: boolean,
  }),
  keepHoldings: setting<boolean>("keep-holdings", {
    accepts: "true or false",
    description: "whether to keep unlocked holdings too, so that their owners are known without asking the ledger",
    default: false,
    parse: boolean,
  }),
  credentialDays: count(
    "credential-days",
    { min: 0, max: 3_650, default: 30 },
    "days before the end of a credential in which `offledger check` and the metrics warn of it; 0 disables these warnings",
  ),
  compression: setting<Compression>("compression", {
    accepts: `one of ${compressions.join(", ")}`,
    description: "compression of responses for clients that accept it",
    default: "gzip",
    parse: oneOf(compressions),
  }),
  logLevel: setting<LogLevel>("log-level", {
    accepts: `one of ${logLevels.join(", ")}`,
    description: "minimum level of log messages",
    default: "info",
    parse: oneOf(logLevels),
  }),
  drainSeconds: count(
    "drain-seconds",
    { min: 0, max: 3_600, default: 5 },
    "time in which the service, told to stop, still serves requests, so that proxies see that it is not ready, in seconds",
  ),
  graceSeconds: seconds("grace-seconds", 5, "time for pending requests to finish when the service stops"),
};
