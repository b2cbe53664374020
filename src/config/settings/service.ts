/** What is served, and where. */
import { nonEmpty, hostName, oneOf, trueOrFalse, wholeNumber } from "../parsers.js";
import { named, optional, seconds, type Setting } from "./setting.js";

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export const serviceSettings = {
  host: {
    ...named("host"),
    accepts: "an address or host name",
    description: "address to listen on",
    default: "127.0.0.1",
    parse: hostName,
  } satisfies Setting<string>,
  port: {
    ...named("port"),
    accepts: "a number from 0 to 65535",
    description: "port to listen on; 0 lets the system choose",
    default: 8080,
    parse: wholeNumber(0, 65_535),
  } satisfies Setting<number>,
  snapshot: optional(
    "snapshot",
    "the path of a file of active contracts",
    "file of active contracts to serve",
    nonEmpty,
    {
      defaultLabel: "the demo registry",
    },
  ),
  registry: {
    ...named("registry"),
    accepts: "utility, minimal, or the path of a JavaScript module",
    description: "the rules of the registry that is served: the Registry Utility, the example, or your own",
    default: "utility",
    parse: nonEmpty,
  } satisfies Setting<string>,
  instruments: optional(
    "instruments",
    "the path of a YAML file",
    "file with names, symbols, decimals and descriptions of instruments",
    nonEmpty,
  ),
  totalSupply: {
    ...named("total-supply"),
    accepts: "true or false",
    description: "whether holdings are counted, so that the total supply of instruments can be told",
    default: false,
    parse: trueOrFalse,
  } satisfies Setting<boolean> as Setting<boolean>,
  logLevel: {
    ...named("log-level"),
    accepts: `one of ${logLevels.join(", ")}`,
    description: "least level of what is logged",
    default: "info",
    parse: oneOf(logLevels),
  } satisfies Setting<LogLevel> as Setting<LogLevel>,
  graceSeconds: seconds("grace-seconds", 5, "time that requests under way have when the service is stopped"),
};
