/** What clients may use of health and reflection; `watches` and `reflections` bound the concurrent streams. */
export interface StreamLimits {
  /** Maximum request message, in bytes: names and numbers need little. */
  readonly messageBytes: number;
  /** Polling interval of the readiness, while there are watches. */
  readonly pollMs: number;
  readonly watches: number;
  /** Maximum duration of a watch. It bounds streams whose client is gone without closing them. */
  readonly watchMs: number;
  readonly reflections: number;
  readonly reflectionMs: number;
  /** Maximum time between two requests on a reflection stream. */
  readonly idleMs: number;
  /** Requests on one reflection stream. */
  readonly requests: number;
}

export const DEFAULT_STREAM_LIMITS: StreamLimits = {
  messageBytes: 64 * 1024,
  pollMs: 500,
  watches: 100,
  watchMs: 60 * 60 * 1000,
  reflections: 100,
  reflectionMs: 10 * 60 * 1000,
  idleMs: 60 * 1000,
  requests: 1000,
};
