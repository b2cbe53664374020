import type { Config } from "../config/config.js";
import { SettingError } from "../config/setting.js";
import { readInstruments } from "../config/setting-files.js";
import { Decoder } from "../ledger/decode.js";
import { ParticipantClient } from "../ledger/participant/client.js";
import { LedgerError } from "../ledger/participant/errors.js";
import type { Timeouts } from "../ledger/participant/http.js";
import { type Snapshot, takeSnapshot } from "../ledger/participant/snapshot.js";
import { createTokenSource } from "../ledger/participant/tokens/token-source.js";
import { withPartyWarnings } from "../registry/check/scan.js";
import type { Inventory } from "../registry/sdk/registry.js";
import { MemoryStore } from "../store/memory/memory-store.js";
import { loadRegistry } from "./load-registry.js";
import { participantOptions } from "./source-options.js";

export interface ParticipantCheck {
  /** The URL of the participant. */
  readonly name: string;
  readonly snapshot: Snapshot;
  /** What the snapshot would serve, without its unreadable contracts. */
  readonly inventory: Inventory;
}

/** In milliseconds. A participant sends a million contracts in less. */
export interface CheckLimits {
  readonly total: number;
  readonly timeouts?: Partial<Timeouts>;
}

const DEFAULT_LIMITS: CheckLimits = { total: 600_000 };

/**
 * Reads the active contracts of the participant once, as a mirror does, and checks them. `now` is in milliseconds since
 * 1970. Throws LedgerError if the participant cannot be read in time, and SettingError for a wrong file.
 */
export async function checkParticipant(
  config: Config,
  now: number,
  limits: CheckLimits = DEFAULT_LIMITS,
): Promise<ParticipantCheck> {
  const registry = await loadRegistry(config);
  await readInstruments(config.instruments);
  const options = await readOptions(config);
  const { url, parties, ca, credentials } = options;
  const end = new AbortController();
  const { signal } = end;
  const timer = setTimeout(() => end.abort(), limits.total);
  try {
    const endpoint = {
      url,
      ca,
      signal,
      timeouts: limits.timeouts ?? {},
      token: createTokenSource(credentials, ca, signal, Date.now),
    };
    const ledger = new ParticipantClient(endpoint, parties, registry.templates);
    const decoder = new Decoder(registry.templates, config.totalSupply, config.keepHoldings);
    const snapshot = await takeSnapshot(ledger, await ledger.ledgerEnd(), decoder, () => signal.aborted);
    if (signal.aborted) throw tooSlow(limits);
    const store = new MemoryStore();
    await store.replace(snapshot.contracts, snapshot.offset);
    const inventory = store.read((view) => registry.inventory(view, { now, credentialDays: config.credentialDays }));
    return { name: url.origin + url.pathname, snapshot, inventory: withPartyWarnings(inventory, parties) };
  } catch (error) {
    throw signal.aborted ? tooSlow(limits) : error;
  } finally {
    clearTimeout(timer);
    end.abort();
  }
}

const tooSlow = ({ total }: CheckLimits) =>
  new LedgerError("lost", `it has not sent all active contracts within ${total / 1_000} s`);

async function readOptions(config: Config) {
  let options;
  try {
    options = await participantOptions(config);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingError("OFFLEDGER_LEDGER_CA_FILE", "the path of a readable PEM file", reason);
  }
  if (options === undefined) throw new Error("OFFLEDGER_LEDGER_URL is not set");
  return options;
}
