import { algorithms, httpUrl, list, nonEmpty, origins } from "../parsers.js";
import { optional, setting } from "./setting.js";

export const authSettings = {
  corsOrigins: setting<"any" | "none" | readonly string[]>("cors-origins", {
    accepts: "any, none, or comma-separated origins",
    description: "origins of web pages that may call the service",
    default: "any",
    parse: origins,
  }),
  authJwksUrl: optional("auth-jwks-url", {
    accepts: "an http or https URL",
    description: "JSON Web Key Set of the issuer of callers' tokens; without it no token is required",
    parse: httpUrl,
  }),
  authIssuer: optional("auth-issuer", {
    accepts: "an issuer",
    description: "required issuer (`iss`) of callers' tokens",
    parse: nonEmpty,
  }),
  authAudience: optional("auth-audience", {
    accepts: "an audience",
    description: "required audience (`aud`) of callers' tokens",
    parse: nonEmpty,
  }),
  authAlgorithms: setting<readonly string[]>("auth-algorithms", {
    accepts: "comma-separated names of asymmetric algorithms",
    description: "accepted signature algorithms of callers' tokens",
    default: ["RS256", "ES256"],
    defaultLabel: "RS256,ES256",
    parse: algorithms,
  }),
  authOperations: optional("auth-operations", {
    accepts: "comma-separated names of operations or services",
    description: "operations that require a token, as full names of rpcs or services",
    parse: list,
    defaultLabel: "all",
  }),
  tlsCertFile: optional("tls-cert-file", {
    accepts: "the path of a PEM file",
    description: "certificate chain for TLS",
    parse: nonEmpty,
  }),
  tlsKeyFile: optional("tls-key-file", {
    accepts: "the path of a PEM file",
    description: "private key of the certificate",
    parse: nonEmpty,
  }),
};
