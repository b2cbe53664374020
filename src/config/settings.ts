/**
 * Every setting: one line each, from which its variable, its flag, its default,
 * the help text and the type of the configuration follow.
 */
import {
  databaseUrl,
  filled,
  hostName,
  httpUrl,
  names,
  oneOf,
  type Parser,
  trueOrFalse,
  wholeNumber,
} from "./parsers.js";

export interface Setting<T> {
  readonly variable: string;
  readonly flag: string;
  /** What it takes, for messages and help. */
  readonly takes: string;
  readonly about: string;
  /** What holds where it is not set. */
  readonly fallback: T;
  /** How help and README name the default where the value does not say it. */
  readonly fallbackName?: string;
  readonly parse: Parser<T>;
  /** Whether a value may hold a password, and must not be shown. */
  readonly isSecret?: boolean;
}

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** The most that a limit may be; no settlement that fits in a request comes near. */
const MOST = 1_000_000;
const DAY_SECONDS = 86_400;

/** In the order in which help and README list them. */
export const settings = {
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

  ledgerUrl: optional(
    "ledger-url",
    "an http or https URL",
    "base of a participant's JSON Ledger API v2, in place of a file",
    httpUrl,
  ),
  ledgerParties: optional(
    "ledger-parties",
    "party ids with commas between them",
    "parties whose contracts are read from the participant",
    names,
  ),
  ledgerTokenFile: optional(
    "ledger-token-file",
    "the path of a file",
    "file with the token for the participant, read anew for each connection",
    filled,
  ),
  ledgerCaFile: optional(
    "ledger-ca-file",
    "the path of a PEM file",
    "certificates of an own authority, for participant and issuer",
    filled,
  ),
  oidcIssuer: optional(
    "oidc-issuer",
    "an http or https URL",
    "issuer of tokens for the participant, by OAuth2 client credentials",
    httpUrl,
  ),
  oidcClientId: optional("oidc-client-id", "a client id", "client id at the issuer", filled),
  oidcClientSecretFile: optional(
    "oidc-client-secret-file",
    "the path of a file",
    "file with the client's secret",
    filled,
  ),
  oidcAudience: optional("oidc-audience", "an audience", "audience of the tokens", filled),
  databaseUrl: optional(
    "database-url",
    "a URL that begins with postgres:// or postgresql://",
    "PostgreSQL database for the contracts, in place of the memory of this process",
    databaseUrl,
    { isSecret: true },
  ),
  databaseConnections: {
    ...named("database-connections"),
    takes: "a whole number from 2 to 500",
    about: "most connections to the database for questions; two more are for what lasts, and three for a snapshot",
    fallback: 10,
    parse: wholeNumber(2, 500),
  } satisfies Setting<number>,
  cacheMegabytes: {
    ...named("cache-megabytes"),
    takes: "a whole number from 1 to 100000",
    about: "memory for what is asked most of a database",
    fallback: 256,
    parse: wholeNumber(1, 100_000),
  } satisfies Setting<number>,

  unreadySeconds: seconds(
    "unready-seconds",
    30,
    "age of what the ledger last confirmed from which on the service is not ready",
  ),
  staleSeconds: seconds(
    "stale-seconds",
    300,
    "age from which on requests are refused rather than answered from what may be stale",
  ),
  readWaitMs: {
    ...named("read-wait-ms"),
    takes: "a whole number from 0 to 60000",
    about: "longest wait, in milliseconds, for a contract that the ledger may have and the mirror has not yet",
    fallback: 1_000,
    parse: wholeNumber(0, 60_000),
  } satisfies Setting<number>,

  // The least values are the worst case that every registry has to support.
  maxLegs: limit("legs", 25, 100, "transfer legs"),
  maxAllocations: limit("allocations", 50, 100, "allocations"),
  maxInstruments: limit("instruments", 25, 25, "distinct instruments"),
  maxAccounts: limit("accounts", 50, 200, "distinct accounts"),
  maxParties: limit("parties", 100, 200, "distinct parties of accounts"),
};

/** A value for each setting. */
export type Config = {
  readonly [N in keyof typeof settings]: (typeof settings)[N] extends Setting<infer T> ? T : never;
};

function named(flag: string): { readonly variable: string; readonly flag: string } {
  return { variable: `OFFLEDGER_${flag.toUpperCase().replaceAll("-", "_")}`, flag };
}

function optional<T>(
  flag: string,
  takes: string,
  about: string,
  parse: Parser<T>,
  more: { readonly fallbackName?: string; readonly isSecret?: boolean } = {},
): Setting<T | undefined> {
  return { ...named(flag), takes, about, fallback: undefined, parse, ...more };
}

function seconds(flag: string, fallback: number, about: string): Setting<number> {
  return {
    ...named(flag),
    takes: `a whole number from 1 to ${DAY_SECONDS}`,
    about: `${about}, in seconds`,
    fallback,
    parse: wholeNumber(1, DAY_SECONDS),
  };
}

function limit(what: string, least: number, fallback: number, about: string): Setting<number> {
  return {
    ...named(`max-${what}`),
    takes: `a whole number from ${least} to ${MOST}`,
    about: `most ${about} of one settlement`,
    fallback,
    parse: wholeNumber(least, MOST),
  };
}
