import { createClient, type Transport } from "@connectrpc/connect";
import { type CachedRegistry, type CacheOptions, createCachedRegistry } from "./cache/cached-registry.js";
import { createDefaultTransport } from "./cache/default-transport.js";
import { WatchServiceV1 } from "./services.js";

export type { CachedRegistry } from "./cache/cached-registry.js";
export type { CacheStatistics } from "./cache/response-keeper.js";

export interface CachedRegistryOptions extends CacheOptions {
  /** Any transport of Connect, in place of the default: the Connect protocol by `fetch`, with binary messages. */
  readonly transport?: Transport | undefined;
}

/**
 * Clients of the service at a URL that answer repeated requests from a cache. It follows the service's stream of changes,
 * and drops the responses that rest on what has changed.
 *
 *     const registry = cachedRegistry("http://localhost:8080");
 *     const transfers = registry.client(TransferInstructionServiceV2);
 *
 * Requests are the same if their binary forms are. While the stream is not open the service is asked. Close the registry
 * when it is no longer used.
 */
export function cachedRegistry(url: string, options: CachedRegistryOptions = {}): CachedRegistry {
  const transport = options.transport ?? createDefaultTransport(url);
  const { watch } = createClient(WatchServiceV1, transport);
  const registrars = [...(options.registrars ?? [])];
  // A default timeout of the transport must not end the stream.
  const open = (resumeToken: string, signal: AbortSignal) =>
    watch({ registrars, resumeToken }, { signal, timeoutMs: 0 });
  return createCachedRegistry(transport, open, options);
}
