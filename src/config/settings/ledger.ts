/** The participant whose contracts are mirrored, and how old what was read may be. */
import { nonEmpty, httpUrl, names, wholeNumber } from "../parsers.js";
import { named, optional, seconds, type Setting } from "./setting.js";

export const ledgerSettings = {
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
    nonEmpty,
  ),
  ledgerCaFile: optional(
    "ledger-ca-file",
    "the path of a PEM file",
    "certificates of an own authority, for participant and issuer",
    nonEmpty,
  ),
  oidcIssuer: optional(
    "oidc-issuer",
    "an http or https URL",
    "issuer of tokens for the participant, by OAuth2 client credentials",
    httpUrl,
  ),
  oidcClientId: optional("oidc-client-id", "a client id", "client id at the issuer", nonEmpty),
  oidcClientSecretFile: optional(
    "oidc-client-secret-file",
    "the path of a file",
    "file with the client's secret",
    nonEmpty,
  ),
  oidcAudience: optional("oidc-audience", "an audience", "audience of the tokens", nonEmpty),
};

export const freshnessSettings = {
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
    accepts: "a whole number from 0 to 60000",
    description: "longest wait, in milliseconds, for a contract that the ledger may have and the mirror has not yet",
    default: 1_000,
    parse: wholeNumber(0, 60_000),
  } satisfies Setting<number>,
};
