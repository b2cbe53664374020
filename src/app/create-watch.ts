import type { Source } from "../ingest/source/source.js";
import { ChangeStreams } from "../registry/watch/change-streams.js";
import { watch } from "../service/watch.js";
import { createStatistics, type WatchOptions } from "../transport/watch/watch-calls.js";
import type { ShutdownSequence } from "./shutdown-sequence.js";

/** The streams of what changes in a source, which end with it. */
export function createWatch(
  source: Source,
  configuration: string,
  maxStreams: number,
  shutdown: ShutdownSequence,
): WatchOptions {
  const streams = new ChangeStreams({
    changes: source.changes,
    freshness: source,
    age: () => source.status().age,
    configurationId: configuration,
  });
  shutdown.add(async () => streams.close());
  return { binding: watch(streams), maxStreams, statistics: createStatistics(() => streams.lagMs) };
}
