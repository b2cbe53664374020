/** What a registry has done since it was created. */
export interface CacheStatistics {
  /** Calls that were answered from the cache. */
  readonly hits: number;
  /** Calls that waited for the service. */
  readonly misses: number;
  /** Requests to the service that it answered by saying that the response is unchanged, without sending it again. */
  readonly notModified: number;
  /** Responses that were dropped because an event had one of their tags. */
  readonly droppedByChanges: number;
  /** Those of them that the service then found unchanged: they were dropped without need. */
  readonly droppedUnchanged: number;
  /** Events after which all responses were dropped. */
  readonly resets: number;
}

export type Counters = { -readonly [name in keyof CacheStatistics]: number };

export const createCounters = (): Counters => ({
  hits: 0,
  misses: 0,
  notModified: 0,
  droppedByChanges: 0,
  droppedUnchanged: 0,
  resets: 0,
});
