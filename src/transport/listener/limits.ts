/** Limits of one connection, and of all together. docs/security.md describes the settings of the same names. */
export interface ConnectionLimits {
  readonly maxHeaderBytes: number;
  /** Milliseconds from the first byte of a request to its last. */
  readonly requestMs: number;
  readonly maxConnections: number;
  /** Connections beyond the limit, for health requests only; 16 by default. */
  readonly reserve?: number;
  /** Of one client address; 0 for no limit. */
  readonly maxConnectionsPerClient: number;
  /** Concurrent requests on one HTTP/2 connection. */
  readonly maxStreams: number;
  /** Requests that one HTTP/2 connection may cancel in ten seconds. */
  readonly maxResets: number;
}

/** Longer than the keep-alive of proxies, so that the proxy closes first and no request is lost. */
export const IDLE_MS = 72_000;
/** How long a request may make no progress, for instance because the client does not read. */
export const STALLED_MS = 120_000;

export const requestTimeoutMessage = (requestMs: number): string =>
  `request not received within ${requestMs / 1000} seconds`;
