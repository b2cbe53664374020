import { alreadyCaughtUp } from "../../domain/ledger.js";
import type { Decoder } from "../../ledger/decode.js";
import type { Ingestor } from "../ingestor.js";
import { SnapshotFile } from "./snapshot-file.js";

const POLL_MS = 1_000;

export function fileIngestor(path: string, decoder: Decoder): Ingestor {
  return {
    name: path,
    origin: `file ${path}`,
    reconnects: () => undefined,
    start(writer, log, signal) {
      const file = new SnapshotFile(path, decoder, writer);
      let isLoaded = false;
      const loaded = file.start(POLL_MS, {
        onReplaced: ({ contracts }) => log.info({ path, contracts: contracts.length }, "changed snapshot file loaded"),
        onRejected: (reason) =>
          log.error({ path, reason }, "changed snapshot file rejected; the previous contracts are still served"),
      });
      const ended = new Promise<void>((resolve) => {
        const close = () => void file.close().then(resolve);
        if (signal.aborted) close();
        else signal.addEventListener("abort", close, { once: true });
      });
      return {
        started: loaded.then(() => {
          isLoaded = true;
        }),
        // A file does not get stale: nothing is ahead of it.
        staleReason: () => undefined,
        notReadyReason: () => undefined,
        catchUp: alreadyCaughtUp,
        offset: () => writer.checkpoint?.offset,
        age: () => (isLoaded ? 0 : undefined),
        otherHistory: () => undefined,
        ended,
      };
    },
  };
}
