/** The part of offledger.watch.v1.WatchResponse that a cache reads. */
export interface WatchEvent {
  readonly event:
    | { readonly case: "changed"; readonly value: { readonly tags: readonly string[] } }
    | { readonly case: "reset" | "heartbeat" | undefined };
  readonly generation: string;
  readonly offset: bigint;
  readonly resumeToken: string;
}

/** Opens a stream of changes: with an empty token a new one. `signal` ends it. */
export type OpenStream = (resumeToken: string, signal: AbortSignal) => AsyncIterable<WatchEvent>;
