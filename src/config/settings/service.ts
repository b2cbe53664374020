/** What is served, and where. */
import { filled, hostName, oneOf, trueOrFalse, wholeNumber } from "../parsers.js";
import { named, optional, seconds, type Setting } from "./setting.js";

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export const serviceSettings = {
  host: {
    ...named("host"),
    takes: "an address or host name",
    about: "address to listen on",
    fallback: "127.0.0.1",
    parse: hostName,
  } satisfies Setting<string>,
  port: {
    ...named("port"),
    takes: "a number from 0 to 65535",
    about: "port to listen on; 0 lets the system choose",
    fallback: 8080,
    parse: wholeNumber(0, 65_535),
  } satisfies Setting<number>,
  snapshot: optional(
    "snapshot",
    "the path of a file of active contracts",
    "file of active contracts to serve",
    filled,
    {
      fallbackName: "the demo registry",
    },
  ),
  registry: {
    ...named("registry"),
    takes: "utility, minimal, or the path of a JavaScript module",
    about: "the rules of the registry that is served: the Registry Utility, the example, or your own",
    fallback: "utility",
    parse: filled,
  } satisfies Setting<string>,
  instruments: optional(
    "instruments",
    "the path of a YAML file",
    "file with names, symbols, decimals and descriptions of instruments",
    filled,
  ),
  totalSupply: {
    ...named("total-supply"),
    takes: "true or false",
    about: "whether holdings are counted, so that the total supply of instruments can be told",
    fallback: false,
    parse: trueOrFalse,
  } satisfies Setting<boolean> as Setting<boolean>,
  logLevel: {
    ...named("log-level"),
    takes: `one of ${logLevels.join(", ")}`,
    about: "least level of what is logged",
    fallback: "info",
    parse: oneOf(logLevels),
  } satisfies Setting<LogLevel> as Setting<LogLevel>,
  graceSeconds: seconds("grace-seconds", 5, "time that requests under way have when the service is stopped"),
};
