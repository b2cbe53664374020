/** What the console shows, beside the contracts. The composition root has it. */
import type { Cause } from "../../domain/errors.js";
import type { JsonObject } from "../../domain/json.js";
import type { Warning } from "../../registry/sdk/registry.js";

export interface ConsoleData {
  readonly version: string;
  /** The origin of the contracts. */
  readonly source: string;
  /** Whether counting the contracts is cheap: in a database it reads whole tables. */
  readonly countsContracts: boolean;
  /** Undefined if the service is ready. */
  readonly notReadyReason: () => string | undefined;
  /** The latest warnings; undefined before the first check. */
  readonly warnings: () => FoundWarnings | undefined;
  /** Oldest first. */
  readonly freshness: () => readonly FreshnessPoint[];
  readonly requests: () => Promise<RequestCounts>;
  readonly refusals: () => readonly RefusedRequest[];
}

export interface FoundWarnings {
  readonly total: number;
  readonly warnings: readonly Warning[];
}

export interface FreshnessPoint {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly offset: number | undefined;
  /** Milliseconds since the contracts were last known to equal the ledger's. */
  readonly age: number | undefined;
  readonly reconnects: number | undefined;
}

export interface RequestCounts {
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly operations: readonly {
    readonly operation: string;
    readonly requests: number;
    /** By code. */
    readonly refusals: ReadonlyMap<string, number>;
  }[];
}

/** A request that the rules refused. */
export interface RefusedRequest {
  readonly requestId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly operation: string;
  readonly protocol: string;
  readonly status: string;
  readonly message: string;
  readonly causes: readonly Cause[];
  /** Undefined if it was too large to keep. */
  readonly request: JsonObject | undefined;
}
