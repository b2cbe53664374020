/** What a server may be, what it is asked, and what it says. */
import type { Roles } from "../../src/ingest/source/database-source.js";

export type Target =
  /** The service as it is, with these settings, by the names of their variables; all of it, or on a database a part. */
  | { readonly server: "offledger"; readonly settings: Readonly<Record<string, string>>; readonly roles?: Roles }
  /** The same handlers on the registry of a file, by way of connect-node as it comes, over one version of HTTP. */
  | { readonly server: "stock"; readonly snapshot: string; readonly version: 1 | 2 }
  /** Bare Fastify: parses the JSON it gets and sends these answers in turn, in base64. */
  | { readonly server: "fastify"; readonly answers: readonly string[] }
  /** Bare HTTP/2: takes a gRPC message and sends these in turn. */
  | { readonly server: "http2"; readonly answers: readonly string[] }
  /** A registry without a mirror; `byId`: whether contracts whose id is known are looked up by it. */
  | { readonly server: "querying"; readonly participant: string; readonly byId: boolean };

/** "watch" begins to look for pauses. */
export type Asked = "cpu" | "memory" | "watch" | "pauses" | "trips";

export interface Pauses {
  readonly longest: number;
  readonly p999: number;
  /** The longest in CPU time, which is no longer where others take the core away. */
  readonly longestCpu: number;
}

export interface Told {
  /** CPU time that the process has used, in microseconds. */
  readonly cpu?: number;
  /** In bytes, after all garbage has been collected. `heap` is that of JavaScript with the buffers outside of it, `peak` the largest resident set since the start. */
  readonly memory?: { readonly rss: number; readonly heap: number; readonly peak: number };
  /** How long the event loop stood, in milliseconds. */
  readonly pauses?: Pauses;
  /** How often requests have asked a database for something, since the start. */
  readonly trips?: number;
}
