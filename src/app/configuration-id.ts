import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Config } from "../config/config.js";
import type { OverridesByInstrument } from "../registry/instrument-directory.js";
import { packageVersion } from "./package-files.js";

const LENGTH = 11;

/**
 * Identifies all that answers depend on besides the contracts. Processes with the same id give the same answers from the
 * same state. Of a registry module only its own file counts, not what it imports.
 */
export async function configurationId(config: Config, overrides: OverridesByInstrument): Promise<string> {
  const { registry, contexts, totalSupply, keepHoldings } = config;
  const { maxLegs, maxAllocations, maxInstruments, maxAccounts, maxParties, unknownAllocations } = config;
  const isModule = registry !== "utility" && registry !== "minimal";
  const parts = [
    packageVersion(),
    isModule ? await readFile(registry, "utf8") : registry,
    contexts === undefined ? null : await readFile(contexts, "utf8"),
    [...overrides].map(([registrar, instruments]) => [registrar, [...instruments]]),
    totalSupply,
    keepHoldings,
    [maxLegs, maxAllocations, maxInstruments, maxAccounts, maxParties, unknownAllocations],
  ];
  return hash("sha256", JSON.stringify(parts), "base64url").slice(0, LENGTH);
}
