/** Loads decoded contracts into a database, in its own process. */
import { loadRegistry } from "../../src/app/registry.js";
import { readConfig } from "../../src/config/config.js";
import type { Contract, CountedOnly } from "../../src/domain/contract.js";
import type { JsonValue } from "../../src/domain/json.js";
import { Decoder } from "../../src/ledger/decode.js";
import { Database } from "../../src/store/postgres/database.js";
import { PostgresWriter } from "../../src/store/postgres/writer.js";
import { serve } from "../processes/child.js";
import { generateTransfers } from "../registries/transfers.js";

export interface CopyOptions {
  readonly offers: number;
  readonly url: string;
}

export interface CopyResult {
  readonly contracts: number;
  readonly seconds: number;
  /** From the last row on: the end of COPY, counts, and the swap of the generation. */
  readonly tailSeconds: number;
}

const OFFSET = 1_000;

serve<CopyOptions, "load">(async ({ offers, url }) => {
  const read = readConfig([], {});
  if (!read.ok) throw new Error(read.errors.join("\n"));
  const decoder = new Decoder((await loadRegistry(read.config)).templates);
  const contracts: (Contract | CountedOnly)[] = [];
  for (const element of generateTransfers(offers)) {
    // Parsed from JSON, as from a participant: strings concatenated in memory have another representation in V8.
    const entry = decoder.decode(JSON.parse(JSON.stringify(element)) as JsonValue);
    if (entry !== undefined) contracts.push(entry.contract);
  }
  const database = new Database(url, 2);
  const identity = { contentId: "bench", origin: "bench" };
  // No writer has held the lease: the epoch is 0.
  const writer = await PostgresWriter.begin(database, 0, identity, (error) => {
    throw error;
  });
  return {
    started: contracts.length,
    answer: async (): Promise<CopyResult> => {
      const startedAt = performance.now();
      let lastRowAt = startedAt;
      const rows = function* () {
        yield* contracts;
        lastRowAt = performance.now();
      };
      await writer.replace(rows(), OFFSET);
      const endedAt = performance.now();
      return {
        contracts: contracts.length,
        seconds: (endedAt - startedAt) / 1000,
        tailSeconds: (endedAt - lastRowAt) / 1000,
      };
    },
  };
});
