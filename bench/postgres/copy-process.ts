/** Puts contracts that are decoded already into a database, in a process of its own. */
import { readConfig } from "../../src/config/config.js";
import { Decoder } from "../../src/ledger/decode.js";
import { loadRegistry } from "../../src/app/load-registry.js";
import { Database } from "../../src/store/postgres/database.js";
import { PostgresWriter } from "../../src/store/postgres/write/postgres-writer.js";
import type { Contract, CountedOnly } from "../../src/domain/contract.js";
import type { JsonValue } from "../../src/domain/json.js";
import { serve } from "../processes/child.js";
import { transfers } from "../registries/transfers.js";

export interface Loading {
  readonly offers: number;
  readonly url: string;
}

/** In seconds. */
export interface Loaded {
  readonly contracts: number;
  readonly took: number;
  /** From when the last contract was taken: the end of COPY, the counting, and the swap. */
  readonly tail: number;
}

const OFFSET = 1_000;

serve<Loading, "load">(async ({ offers, url }) => {
  const read = readConfig([], {});
  if (!read.ok) throw new Error(read.wrong.join("\n"));
  const decoder = new Decoder((await loadRegistry(read.config)).templates);
  const contracts: (Contract | CountedOnly)[] = [];
  for (const element of transfers(offers)) {
    // As texts of a participant are, and not as they were put together.
    const entry = decoder.decode(JSON.parse(JSON.stringify(element)) as JsonValue);
    if (entry !== undefined) contracts.push(entry.contract);
  }
  const database = new Database(url, 2);
  const written = { contents: "bench", origin: "bench" };
  // Nobody has taken the lease: the epoch is the first.
  const writer = await PostgresWriter.begin(database, 0, written, (error) => {
    throw error;
  });
  return {
    begun: contracts.length,
    answer: async (): Promise<Loaded> => {
      const begun = performance.now();
      let taken = begun;
      const all = function* () {
        yield* contracts;
        taken = performance.now();
      };
      await writer.replace(all(), OFFSET);
      const end = performance.now();
      return { contracts: contracts.length, took: (end - begun) / 1000, tail: (end - taken) / 1000 };
    },
  };
});
