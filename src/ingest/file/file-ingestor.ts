/** A file of active contracts, the operator's or the demo. */
import { createRequire } from "node:module";
import type { Config } from "../../config/config.js";
import type { Decoder } from "../../ledger/decode.js";
import { SnapshotFile } from "./snapshot-file.js";
import type { Ingestor } from "../ingestor.js";

/** How often a snapshot file is looked at, in milliseconds. */
const POLL_MS = 1_000;

/** The file that is served: the operator's, or the demo of the registry that comes with the package. */
export function snapshotPath({ snapshot, registry }: Config): string {
  return (
    snapshot ??
    createRequire(import.meta.url).resolve(`#demo/${registry === "minimal" ? "minimal" : "registry"}.ndjson`)
  );
}

export function fileIngestor(path: string, decoder: Decoder): Ingestor {
  return {
    name: path,
    origin: `file ${path}`,
    reconnects: () => undefined,
    start(writer, log, signal) {
      const file = new SnapshotFile(path, decoder, writer);
      let isThere = false;
      const begun = file.start(POLL_MS, {
        onReplaced: ({ contracts }) => log.info({ path, contracts: contracts.length }, "serving the changed snapshot"),
        onRejected: (reason) =>
          log.error({ path, reason }, "the changed snapshot cannot be served; what was served before goes on"),
      });
      const ended = new Promise<void>((resolve) => {
        const close = () => void file.close().then(resolve);
        if (signal.aborted) close();
        else signal.addEventListener("abort", close, { once: true });
      });
      return {
        started: begun.then(() => {
          isThere = true;
        }),
        // A file is what there is: nothing is ahead of it.
        staleReason: () => undefined,
        notReadyReason: () => undefined,
        catchUp: () => Promise.resolve(false),
        offset: () => writer.checkpoint?.offset,
        age: () => (isThere ? 0 : undefined),
        ended,
      };
    },
  };
}
