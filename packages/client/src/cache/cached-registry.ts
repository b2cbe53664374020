import type { DescService } from "@bufbuild/protobuf";
import { type Client, type ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { CachingTransport } from "./caching-transport.js";
import { ChangeStream, type OpenStream } from "./change-stream.js";
import { createClock } from "./clock.js";
import { type CacheStatistics, ResponseKeeper } from "./response-keeper.js";

/** Clients of a service with a cache of its responses. */
export interface CachedRegistry {
  /** A client as `createClient` returns it. All clients of a registry share its cache. */
  client<T extends DescService>(service: T): Client<T>;
  /** Whether the stream of changes is open and not silent: calls may be answered from the cache. */
  readonly isLive: boolean;
  statistics(): CacheStatistics;
  /** Ends the stream of changes and empties the cache. Later calls ask the service. */
  close(): Promise<void>;
}

export interface CacheOptions {
  /**
   * The registrars whose changes are followed: at most 100. Only responses to requests that name one of them are kept.
   * Default: all changes, all responses.
   */
  readonly registrars?: readonly string[] | undefined;
  /** The number of responses, above which those longest unused are removed. Default 10,000. */
  readonly maxResponses?: number | undefined;
  /** The cache is not used while the stream of changes has sent nothing for so long. Default 25,000. */
  readonly maxSilenceMs?: number | undefined;
  /** Called when the stream of changes has ended or could not be opened. It is opened again by itself. */
  readonly onDisconnect?: ((reason: ConnectError) => void) | undefined;
  /** For tests: the tags of past changes that are remembered for responses that arrive late. Default 20,000. */
  readonly maxRememberedTags?: number | undefined;
  /** For tests: a monotonic clock in milliseconds, which decides whether a response may be used. */
  readonly clock?: (() => number) | undefined;
}

/** Creates a registry on a transport. `open` opens the stream of changes over it. */
export function createCachedRegistry(transport: Transport, open: OpenStream, options: CacheOptions): CachedRegistry {
  const { maxResponses = 10_000, maxSilenceMs = 25_000, maxRememberedTags = 20_000, clock = createClock() } = options;
  const isLive = (): boolean => stream.isLive;
  const keeper = new ResponseKeeper({ maxResponses, maxRememberedTags, clock, isLive });
  const stream = new ChangeStream({
    open,
    onEvent: (event) => keeper.handle(event),
    onDisconnect: (reason) => options.onDisconnect?.(reason),
    clock,
    maxSilenceMs,
  });
  const registrars = new Set(options.registrars);
  const caching = new CachingTransport({ transport, keeper, registrars, clock });
  return {
    client: (service) => createClient(service, caching),
    get isLive() {
      return stream.isLive;
    },
    statistics: () => ({ ...keeper.counters }),
    async close() {
      await stream.close();
      keeper.clear();
    },
  };
}
