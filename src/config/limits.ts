/**
 * What no operator can judge, and so no setting has: docs/security.md says what each protects, and tests run the service
 * with others. And whether traces are sent, which OpenTelemetry's variables say.
 */
import { getHeapStatistics } from "node:v8";
import type { Config } from "./config.js";

const MIB = 1024 * 1024;

export const LIMITS = {
  /** The request body after decompression. */
  maxBodyBytes: MIB,
  maxHeaderBytes: 16 * 1024,
  /** The request path with its query. */
  maxPathBytes: 12 * 1024,
  /** Nesting of objects and lists in the choice arguments. The protobuf library reads 100 levels, two for each. */
  maxArgumentDepth: 48,
  /** Keys and list elements in the choice arguments. */
  maxArgumentKeys: 5_000,
  /** Time to receive a request. */
  requestSeconds: 30,
  /** At most; fewer where the memory does not suffice. Further connections are closed at once. */
  maxConnections: 10_000,
  /** Concurrent requests on an HTTP/2 connection: the number that RFC 9113 names as the least. */
  maxStreams: 100,
  /** Concurrent streams of changes. */
  maxWatches: 10_000,
  /** Wait for a contract that the ledger may have and the mirror does not have yet. */
  readWaitMs: 1_000,
  /** Since the ledger last confirmed the state: the service is not ready. At most OFFLEDGER_STALE_SECONDS. */
  unreadySeconds: 30,
  /** Time for pending requests to finish when the service stops. */
  graceSeconds: 5,
  /** Before the end of a credential: it is warned of. */
  credentialDays: 30,
  /** Content of the database's contracts that is kept in memory. */
  cacheBytes: Math.min(256 * MIB, Math.floor(getHeapStatistics().heap_size_limit / 4)),
  /** Whether responses are compressed for clients that accept it. */
  compresses: true,
  ...tracing(process.env),
};

export interface Limits extends Readonly<typeof LIMITS> {
  /** Requests under way; what fits the heap without it. */
  readonly maxRequests?: number;
  /** Memory of streams of changes, in that of one by REST; what fits the heap without it. */
  readonly maxStreamUnits?: number;
}

/** From the variables of OpenTelemetry. What is malformed counts as not set, as its specification demands. */
function tracing({
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ofTraces = "",
  OTEL_EXPORTER_OTLP_ENDPOINT: ofAll = "",
  OTEL_TRACES_SAMPLER_ARG: given = "",
}: NodeJS.ProcessEnv) {
  const ratio = given.trim() === "" ? 1 : Number(given);
  return {
    /** The exporter reads where to. */
    sendsTraces: URL.canParse(ofTraces) || URL.canParse(ofAll),
    /** Share of the traces started here that are sent. */
    tracesRatio: ratio >= 0 && ratio <= 1 ? ratio : 1,
  };
}

/** The settings, and other limits where tests have them. */
export type AppConfig = Config & Partial<Limits>;

export const limitsOf = (config: AppConfig): Limits => ({ ...LIMITS, ...config });

/** The limits of a settlement that follow from that of its legs: at least the worst case that every registry must support. */
export const settlementLimits = (legs: number) => ({
  legs,
  allocations: Math.max(50, legs),
  instruments: Math.max(25, Math.floor(legs / 4)),
  accounts: 2 * legs,
  parties: Math.max(100, 2 * legs),
});
