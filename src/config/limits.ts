/**
 * What no operator can judge, and so no setting has: docs/security.md says what each protects, and tests run the service
 * with others. And whether traces are sent, which OpenTelemetry's variables say.
 */
import { getHeapStatistics } from "node:v8";
import type { Config } from "./config.js";

export interface Limits {
  /** The request body after decompression. */
  readonly maxBodyBytes: number;
  readonly maxHeaderBytes: number;
  /** The request path with its query. */
  readonly maxPathBytes: number;
  /** Nesting of objects and lists in the choice arguments. The protobuf library reads 100 levels, two for each. */
  readonly maxArgumentDepth: number;
  /** Keys and list elements in the choice arguments. */
  readonly maxArgumentKeys: number;
  /** Time to receive a request. */
  readonly requestSeconds: number;
  /** At most; fewer where the memory does not suffice. Further connections are closed at once. */
  readonly maxConnections: number;
  /** Concurrent requests on an HTTP/2 connection: the number that RFC 9113 names as the least. */
  readonly maxStreams: number;
  /** Concurrent streams of changes. */
  readonly maxWatches: number;
  /** Wait for a contract that the ledger may have and the mirror does not have yet. */
  readonly readWaitMs: number;
  /** Since the ledger last confirmed the state: the service is not ready. At most OFFLEDGER_STALE_SECONDS. */
  readonly unreadySeconds: number;
  /** Time for pending requests to finish when the service stops. */
  readonly graceSeconds: number;
  /** Before the end of a credential: it is warned of. */
  readonly credentialDays: number;
  /** Content of the database's contracts that is kept in memory. */
  readonly cacheBytes: number;
  /** Whether responses are compressed for clients that accept it. */
  readonly compresses: boolean;
  /** Requests under way; what fits the heap without it. */
  readonly maxRequests?: number;
  /** Memory of streams of changes, in that of one by REST; what fits the heap without it. */
  readonly maxStreamUnits?: number;
  /** Whether traces are sent: the exporter reads where. */
  readonly sendsTraces: boolean;
  /** Share of the traces started here that are sent. */
  readonly tracesRatio: number;
}

const MIB = 1024 * 1024;

export const LIMITS: Limits = {
  maxBodyBytes: MIB,
  maxHeaderBytes: 16 * 1024,
  maxPathBytes: 12 * 1024,
  maxArgumentDepth: 48,
  maxArgumentKeys: 5_000,
  requestSeconds: 30,
  maxConnections: 10_000,
  maxStreams: 100,
  maxWatches: 10_000,
  readWaitMs: 1_000,
  unreadySeconds: 30,
  graceSeconds: 5,
  credentialDays: 30,
  cacheBytes: Math.min(256 * MIB, Math.floor(getHeapStatistics().heap_size_limit / 4)),
  compresses: true,
  ...tracing(process.env),
};

/** From the variables of OpenTelemetry. What is malformed counts as not set, as its specification demands. */
function tracing({
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ofTraces = "",
  OTEL_EXPORTER_OTLP_ENDPOINT: ofAll = "",
  OTEL_TRACES_SAMPLER_ARG: given = "",
}: NodeJS.ProcessEnv): Pick<Limits, "sendsTraces" | "tracesRatio"> {
  const ratio = given.trim() === "" ? 1 : Number(given);
  return {
    sendsTraces: URL.canParse(ofTraces) || URL.canParse(ofAll),
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
