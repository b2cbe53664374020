/** The servers that can be measured, and what they report. */
import type { Roles } from "../../src/ingest/database-source.js";

export type Target =
  /** The service, with settings by their environment variables; `roles` select a part of it on a database. */
  | { readonly server: "offledger"; readonly settings: Readonly<Record<string, string>>; readonly roles?: Roles }
  /** The same handlers on a snapshot file, mounted by connect-node with its defaults, over one HTTP version. */
  | { readonly server: "connect-node"; readonly snapshot: string; readonly version: 1 | 2 }
  /** Fastify that parses JSON and sends these base64 bodies in turn. */
  | { readonly server: "fastify"; readonly bodies: readonly string[] }
  /** node:http2 that reads a gRPC message and sends these in turn. */
  | { readonly server: "http2"; readonly messages: readonly string[] };

export type Question = "cpu" | "memory" | "roundTrips";

export interface Reply {
  /** CPU time, in microseconds. */
  readonly cpu?: number;
  /** In bytes, after garbage collection. `heap` includes the buffers outside of it; `peak` is the largest resident set. */
  readonly memory?: { readonly rss: number; readonly heap: number; readonly peak: number };
  readonly roundTrips?: number;
}
