import { httpUrl, nonEmpty, parties } from "../parsers.js";
import { optional } from "./setting.js";

export const ledgerSettings = {
  ledgerUrl: optional("ledger-url", {
    accepts: "an http or https URL",
    description: "base URL of a participant's JSON Ledger API v2, instead of a file",
    parse: httpUrl,
  }),
  ledgerParties: optional("ledger-parties", {
    accepts: "comma-separated party ids (hint::fingerprint)",
    description: "parties whose contracts are read from the participant",
    parse: parties,
  }),
  ledgerTokenFile: optional("ledger-token-file", {
    accepts: "the path of a file",
    description: "file with the token for the participant; read again for each connection",
    parse: nonEmpty,
  }),
  ledgerCaFile: optional("ledger-ca-file", {
    accepts: "the path of a PEM file",
    description: "certificates of a private certificate authority, for participant and issuer",
    parse: nonEmpty,
  }),
  oidcIssuer: optional("oidc-issuer", {
    accepts: "an http or https URL",
    description: "issuer of tokens for the participant (OAuth2 client credentials)",
    parse: httpUrl,
  }),
  oidcClientId: optional("oidc-client-id", {
    accepts: "a client id",
    description: "client id at the issuer",
    parse: nonEmpty,
  }),
  oidcClientSecretFile: optional("oidc-client-secret-file", {
    accepts: "the path of a file",
    description: "file with the client secret",
    parse: nonEmpty,
  }),
  oidcAudience: optional("oidc-audience", {
    accepts: "an audience",
    description: "audience of the tokens",
    parse: nonEmpty,
  }),
  oidcScope: optional("oidc-scope", {
    accepts: "space-separated scopes",
    description: "scope of the tokens",
    parse: nonEmpty,
  }),
  prepareUserId: optional("prepare-user-id", {
    accepts: "a user id",
    description: "user of the participant as whom operators try commands; nothing is submitted",
    parse: nonEmpty,
  }),
  prepareTokenFile: optional("prepare-token-file", {
    accepts: "the path of a file",
    description: "file with the token of that user; read again for each command",
    parse: nonEmpty,
  }),
};
