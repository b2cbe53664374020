/** What stands between the service and the internet: docs/security.md says what each is for. */
import { addresses, nonEmpty, httpUrl, names, origins } from "../parsers.js";
import { named, number, optional, seconds, type Setting } from "./setting.js";

export const limitSettings = {
  maxBodyBytes: number(
    "max-body-bytes",
    1_024,
    16_777_216,
    1_048_576,
    "largest body of a request, in bytes, also when it has been decompressed",
  ),
  maxHeaderBytes: number("max-header-bytes", 1_024, 1_048_576, 16_384, "largest head of a request, in bytes"),
  maxPathBytes: number("max-path-bytes", 256, 65_536, 12_288, "longest path of a request with its query, in bytes"),
  maxArgumentDepth: number(
    "max-argument-depth",
    10,
    // The protobuf library reads a message no deeper, two messages for each.
    50,
    48,
    "how deep objects and lists in the choice arguments may be nested",
  ),
  maxArgumentKeys: number(
    "max-argument-keys",
    1_000,
    1_000_000,
    50_000,
    "most keys and list elements in the choice arguments",
  ),
  requestSeconds: seconds("request-seconds", 30, "time that a request may take to arrive whole"),
  maxConnections: number(
    "max-connections",
    10,
    1_000_000,
    10_000,
    "most connections at a time; more are closed at once",
  ),
  maxStreams: number("max-streams", 1, 10_000, 256, "most requests at a time on one HTTP/2 connection"),
  maxResets: number(
    "max-resets",
    10,
    100_000,
    500,
    "most requests that an HTTP/2 connection may cancel in ten seconds",
  ),
  maxDelayMs: number(
    "max-delay-ms",
    0,
    60_000,
    250,
    "longest delay in milliseconds from which on requests are refused with 503; 0 for never",
  ),
  ratePerClient: number(
    "rate-per-client",
    0,
    1_000_000,
    0,
    "most requests a second from one client for one operation; 0 for no limit",
  ),
  rateInAll: number("rate-in-all", 0, 1_000_000, 0, "most requests a second from all clients together; 0 for no limit"),
  trustedProxies: optional(
    "trusted-proxies",
    "addresses and networks with commas between them",
    "proxies whose X-Forwarded-For tells the client's address",
    addresses,
  ),
};

export const accessSettings = {
  corsOrigins: {
    ...named("cors-origins"),
    accepts: "any, none, or origins with commas between them",
    description: "origins of web pages that may ask",
    default: "any",
    parse: origins,
  } satisfies Setting<"any" | "none" | readonly string[]> as Setting<"any" | "none" | readonly string[]>,
  authJwksUrl: optional(
    "auth-jwks-url",
    "an http or https URL",
    "keys of the issuer whose tokens callers have to bring; without it nobody needs one",
    httpUrl,
  ),
  authIssuer: optional("auth-issuer", "an issuer", "issuer of the callers' tokens", nonEmpty),
  authAudience: optional("auth-audience", "an audience", "audience of the callers' tokens", nonEmpty),
  authAlgorithms: {
    ...named("auth-algorithms"),
    accepts: "names of asymmetric algorithms with commas between them",
    description: "algorithms that the callers' tokens may be signed by",
    default: ["RS256", "ES256"],
    defaultLabel: "RS256,ES256",
    parse: algorithms,
  } satisfies Setting<readonly string[]> as Setting<readonly string[]>,
  authOperations: optional(
    "auth-operations",
    "names of operations or services with commas between them",
    "operations that need a token, by the full names of rpcs or of services",
    names,
    { defaultLabel: "all" },
  ),
  tlsCertFile: optional("tls-cert-file", "the path of a PEM file", "certificate chain, for TLS", nonEmpty),
  tlsKeyFile: optional("tls-key-file", "the path of a PEM file", "private key of the certificate", nonEmpty),
};

/** Asymmetric alone: whoever can check a token by a shared secret can make one. */
const ASYMMETRIC = /^(?:RS|PS|ES)(?:256|384|512)$|^EdDSA$|^Ed25519$/;

function algorithms(text: string): readonly string[] | undefined {
  const list = names(text);
  return list?.every((name) => ASYMMETRIC.test(name)) === true ? list : undefined;
}
