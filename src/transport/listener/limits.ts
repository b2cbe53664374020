/** What one connection, and all together, may take. The settings of the same names say what each is for. */
export interface ConnectionLimits {
  readonly maxHeaderBytes: number;
  /** Milliseconds from the first byte of a request to its last. */
  readonly requestMs: number;
  readonly maxConnections: number;
  /** Requests that one HTTP/2 connection may have under way. */
  readonly maxStreams: number;
  /** Requests that one HTTP/2 connection may cancel in ten seconds. */
  readonly maxResets: number;
}

/** What holds where nothing else is said. */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  maxHeaderBytes: 16_384,
  requestMs: 30_000,
  maxConnections: 10_000,
  maxStreams: 256,
  maxResets: 500,
};

/** How long a connection may be idle between requests: longer than proxies keep theirs, so that they close first. */
export const IDLE_MS = 72_000;
/** How long a connection may stand still while something is under way on it, as that of a caller who does not read. */
export const STALLED_MS = 120_000;

/** What is said of a request that has not come whole in time. */
export const tooSlow = (requestMs: number): string =>
  `the request has not come whole within ${requestMs / 1000} seconds`;
