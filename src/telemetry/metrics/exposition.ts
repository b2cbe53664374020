import type { WarningSource } from "./service-metrics.js";

/** What the operator's port shows to Prometheus and to people. */
export interface Exposition {
  readonly contentType: string;
  metrics(): Promise<string>;
  /** Undefined if `/warnings` is not served. */
  readonly warnings: WarningSource | undefined;
}
