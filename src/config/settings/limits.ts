/** Limits on requests and connections. docs/security.md explains each. */
import { integer, networks } from "../parsers.js";
import { count, optional, seconds } from "./setting.js";

export const limitSettings = {
  maxBodyBytes: count(
    "max-body-bytes",
    { min: 1_024, max: 16_777_216, default: 1_048_576 },
    "maximum request body size in bytes, after decompression",
  ),
  maxHeaderBytes: count(
    "max-header-bytes",
    { min: 1_024, max: 1_048_576, default: 16_384 },
    "maximum size of the request headers in bytes",
  ),
  maxPathBytes: count(
    "max-path-bytes",
    { min: 256, max: 65_536, default: 12_288 },
    "maximum length of the request path with its query in bytes",
  ),
  maxArgumentDepth: count(
    "max-argument-depth",
    // 50: the protobuf library limits the nesting of messages, and each level takes two.
    { min: 10, max: 50, default: 48 },
    "maximum nesting of objects and lists in the choice arguments",
  ),
  maxArgumentKeys: count(
    "max-argument-keys",
    { min: 1_000, max: 1_000_000, default: 50_000 },
    "maximum number of keys and list elements in the choice arguments",
  ),
  requestSeconds: seconds("request-seconds", 30, "maximum time to receive a request"),
  maxConnections: count(
    "max-connections",
    { min: 10, max: 1_000_000, default: 10_000 },
    "maximum concurrent connections; further ones are closed at once",
  ),
  maxBodyMegabytes: optional("max-body-megabytes", {
    accepts: "an integer from 1 to 1000000",
    description: "maximum of all request bodies that are being received, in MiB; by default a sixteenth of the memory",
    parse: integer(1, 1_000_000),
  }),
  maxResponseMegabytes: optional("max-response-megabytes", {
    accepts: "an integer from 1 to 1000000",
    description: "maximum of all responses that clients have not taken yet, in MiB; by default an eighth of the memory",
    parse: integer(1, 1_000_000),
  }),
  maxRequests: optional("max-requests", {
    accepts: "an integer from 16 to 1000000",
    description: "maximum requests under way; by default one for each 64 KiB of the heap, at most 20000",
    parse: integer(16, 1_000_000),
  }),
  maxWatches: count(
    "max-watches",
    { min: 0, max: 1_000_000, default: 10_000 },
    "maximum concurrent streams of changes",
  ),
  maxStreams: count(
    "max-streams",
    { min: 1, max: 10_000, default: 100 },
    "maximum concurrent requests on an HTTP/2 connection",
  ),
  maxDelayMs: count(
    "max-delay-ms",
    { min: 0, max: 60_000, default: 250 },
    "delay of the event loop above which requests are rejected with 503, in milliseconds; 0 disables it",
  ),
  ratePerClient: count(
    "rate-per-client",
    { min: 0, max: 1_000_000, default: 0 },
    "maximum requests per second of one client to one operation; 0 means no limit",
  ),
  rateInAll: count(
    "rate-in-all",
    { min: 0, max: 1_000_000, default: 0 },
    "maximum requests per second of all clients together; 0 means no limit",
  ),
  trustedProxies: optional("trusted-proxies", {
    accepts: "comma-separated addresses and networks",
    description: "proxies whose X-Forwarded-For header is trusted for the client address",
    parse: networks,
  }),
};
