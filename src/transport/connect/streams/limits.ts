/** What a caller may take of the standard services. Times are in milliseconds. */
export interface StreamLimits {
  /** Largest message of a request, in bytes: names and numbers need little. */
  readonly messageBytes: number;
  /** How often it is looked whether the service is ready, while anybody watches. */
  readonly lookMs: number;
  /** Watches at the same time. */
  readonly watches: number;
  /** How long a watch lasts at most; so one whose caller has gone without a word does not stay for good. */
  readonly watchMs: number;
  /** Streams of reflection at the same time. */
  readonly reflections: number;
  /** How long a stream of reflection lasts at most. */
  readonly reflectionMs: number;
  /** How long a stream of reflection may go without a question. */
  readonly silentMs: number;
  /** Questions on one stream of reflection. */
  readonly questions: number;
}

export const DEFAULT_STREAM_LIMITS: StreamLimits = {
  messageBytes: 64 * 1024,
  lookMs: 500,
  watches: 100,
  watchMs: 60 * 60 * 1000,
  reflections: 100,
  reflectionMs: 10 * 60 * 1000,
  silentMs: 60 * 1000,
  questions: 1000,
};
