import type { Template } from "../../domain/template.js";
import type { StoreReader, View } from "../../state/port.js";
import { abortablePause } from "../../util/async.js";
import { errorMessage, type Logger } from "../../util/logger.js";
import { StoreSteps } from "../party-search.js";
import { backgroundContext } from "../recorder.js";
import type { CheckContext, Inventory, InventoryOptions, Registry } from "../sdk/registry.js";
import { type Check, type Warning, type WarningKind, warningKinds } from "../sdk/warnings.js";

/** Warnings are about the present: nobody keeps them. */
export const checkContext = (view: View, now: number, credentialDays: number): CheckContext => ({
  ...backgroundContext(view, now),
  credentialDays,
});

/** Bounds memory: keeps this many warnings of each kind and only counts further ones. */
export const MAX_KEPT = 1_000;

/** Counts warnings by kind and keeps the first of each. Joins warnings that differ only in their operations. */
export class WarningCollector {
  readonly #kept = new Map<WarningKind, Map<string, Warning>>(warningKinds.map((kind) => [kind, new Map()]));
  readonly #counts = new Map<WarningKind, number>(warningKinds.map((kind) => [kind, 0]));

  add(warning: Warning): void {
    const { kind } = warning;
    const ofKind = this.#kept.get(kind);
    // A registry module may be plain JavaScript.
    if (ofKind === undefined) throw new Error(`a check returned a warning of the unknown kind ${kind}`);
    const key = keyOf(warning);
    const known = ofKind.get(key);
    if (known !== undefined) {
      ofKind.set(key, { ...known, operations: [...new Set([...known.operations, ...warning.operations])] });
      return;
    }
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    if (ofKind.size < MAX_KEPT) ofKind.set(key, warning);
  }

  get counts(): Readonly<Record<WarningKind, number>> {
    // It has exactly the kinds.
    return Object.fromEntries(this.#counts) as Record<WarningKind, number>;
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The first `maxPerKind` warnings of each kind, in the order of the kinds. */
  warnings(maxPerKind: number = MAX_KEPT): readonly Warning[] {
    return warningKinds.flatMap((kind) => [...(this.#kept.get(kind)?.values() ?? [])].slice(0, maxPerKind));
  }
}

const keyOf = ({ registrar, instrument, contractId, party, refusal, problem }: Warning): string =>
  JSON.stringify([registrar, instrument, contractId, party, refusal, problem]);

/** All checks at once, of at most `maxContracts` of each template. */
export function runChecks(
  view: View,
  checks: readonly Check[],
  { now, credentialDays, maxContracts = Infinity }: InventoryOptions,
): Pick<Inventory, "warnings" | "warningCounts" | "unchecked"> {
  const collector = new WarningCollector();
  const context = checkContext(view, now, credentialDays);
  // Without contracts to check, a large template must not be read.
  for (const check of maxContracts === 0 ? [] : checks) {
    const { template, overall } = check;
    const all = view.all(template);
    const contracts = all.slice(0, maxContracts);
    for (const warning of check.warnings(context, contracts)) collector.add(warning);
    if (overall === undefined || contracts.length < all.length) continue;
    for (const warning of overall.conclude(context, [overall.observe(context, contracts)])) collector.add(warning);
  }
  const unchecked = checks.reduce((sum, { template }) => sum + Math.max(0, countOf(view, template) - maxContracts), 0);
  return {
    warnings: collector.warnings(),
    warningCounts: collector.counts,
    unchecked: unchecked === 0 ? undefined : unchecked,
  };
}

/** How many contracts of a template are stored. */
export const countOf = (view: View, template: Template): number =>
  view
    .templateCounts()
    .filter((row) => row.template === template)
    .reduce((sum, { count }) => sum + count, 0);

export interface ScanOptions {
  readonly credentialDays: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Waits for some milliseconds; resolves early when the signal is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
  /** Checks so many contracts of each template; all if absent. */
  readonly maxContracts?: number | undefined;
}

export interface ScanResult {
  readonly found: WarningCollector;
  /** Whether every contract was checked. */
  readonly isComplete: boolean;
  /** How many contracts were checked, each once for each check of its template. */
  readonly checked: number;
  /** The offset of the last state that was read; undefined if nothing was. */
  readonly offset: number | undefined;
}

const MAX_STEP = 100;
/** A scan uses at most a twentieth of a processor. */
const REST_PER_CPU = 19;

/** Runs the checks in short steps, with rests in between. Rejects with NotReady, and stops early on an abort. */
export async function scanWarnings(
  store: StoreReader,
  checks: readonly Check[],
  options: ScanOptions,
): Promise<ScanResult> {
  const { credentialDays, now, pause, signal, maxContracts = Infinity } = options;
  const limits = { maxStep: MAX_STEP, restPerCpu: REST_PER_CPU, now, pause, signal };
  const steps = new StoreSteps(store, limits);
  const found = new WarningCollector();
  let isComplete = true;
  let checked = 0;
  let offset: number | undefined;
  for (const check of checks) {
    const { template, overall } = check;
    const listed = store.ids(template);
    const ids = listed.slice(0, maxContracts);
    const isWhole = ids.length === listed.length;
    isComplete &&= isWhole;
    const observed: unknown[] = [];
    const checkStep = steps.run(template, ids, (view, contracts, at) => {
      const context = checkContext(view, at, credentialDays);
      return {
        warnings: check.warnings(context, contracts),
        observed: isWhole ? overall?.observe(context, contracts) : undefined,
        offset: view.offset,
      };
    });
    for await (const { result, count } of checkStep) {
      checked += count;
      observed.push(result.observed);
      for (const warning of result.warnings) found.add(warning);
      offset = result.offset;
    }
    if (overall === undefined || !isWhole || signal.aborted) continue;
    const at = now();
    const concluded = store.read((view) => overall.conclude(checkContext(view, at, credentialDays), observed));
    for (const warning of concluded) found.add(warning);
  }
  return { found, isComplete, checked, offset };
}

export interface InventoryScanOptions extends ScanOptions {
  readonly maxContracts: number;
}

/**
 * The inventory of a store beside its requests: the summary in one read, then the checks in short steps, of at most
 * `maxContracts` of each template. `Registry.inventory` alone would check all of them in one turn. A registry that does not
 * limit its inventory is read at once. Rejects with NotReady, and stops early on an abort.
 */
export async function scanInventory(
  store: StoreReader,
  registry: Registry,
  options: InventoryScanOptions,
): Promise<Inventory> {
  const { credentialDays } = options;
  const now = options.now();
  const summary = store.read((view) => registry.inventory(view, { now, credentialDays, maxContracts: 0 }));
  // A registry without limit has checked everything.
  if (summary.unchecked === undefined || registry.checks === undefined) return summary;
  const { found, checked, isComplete } = await scanWarnings(store, registry.checks, options);
  return {
    ...summary,
    warnings: [...summary.warnings, ...found.warnings()],
    warningCounts: found.counts,
    // The number is approximate: contracts may have been created or archived between the reads.
    unchecked: isComplete ? undefined : Math.max(1, summary.unchecked - checked),
  };
}

/** The inventory of a mirrored ledger, with a warning where its parties see too little. */
export function withPartyWarnings(inventory: Inventory, parties: readonly string[]): Inventory {
  const found = partyWarnings(inventory, parties);
  return found.length === 0 ? inventory : { ...inventory, warnings: [...found, ...inventory.warnings] };
}

/** A sentence for each problem. `parties` are those of OFFLEDGER_LEDGER_PARTIES. */
export function partyWarnings({ counts, operators }: Inventory, parties: readonly string[]): readonly string[] {
  const names = parties.join(", ");
  if (counts.length === 0) {
    return [
      `OFFLEDGER_LEDGER_PARTIES: no contract of the registry is visible to ${names}. Check the ids of the parties, and that ` +
        "this participant hosts them.",
    ];
  }
  // Only a registry with an operator lists them.
  if (operators === undefined || operators.some((operator) => parties.includes(operator))) return [];
  const named = operators.length === 0 ? "" : `, which is ${operators.join(", ")}`;
  return [
    `OFFLEDGER_LEDGER_PARTIES: none of ${names} is the operator of a visible contract${named}. Transfer preapprovals and ` +
      "the credentials of the credential app are invisible: direct transfers become offers, and credentials are missing. " +
      "Read the contracts of the operator too.",
  ];
}

export interface FirstInventoryOptions {
  readonly registry: Registry;
  readonly source: {
    /** Undefined if the store is current. */
    notReadyReason(): string | undefined;
    readonly reader: StoreReader;
  };
  readonly credentialDays: number;
  /** The parties whose contracts a ledger is read for; undefined for another source. */
  readonly parties: readonly string[] | undefined;
  /** How many contracts of each template are checked. */
  readonly maxContracts: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
}

const POLL_MS = 100;

/** Reads the inventory of a mirrored ledger or a database once, when it is ready for the first time. */
export class FirstInventory {
  readonly #options: FirstInventoryOptions;
  readonly #end = new AbortController();
  readonly #pause = abortablePause(this.#end.signal);
  #running: Promise<Inventory | undefined> | undefined;

  constructor(options: FirstInventoryOptions) {
    this.#options = options;
  }

  /** Undefined after `close`, or if the registry fails, which is logged. Never rejects. */
  read(): Promise<Inventory | undefined> {
    return (this.#running ??= this.#read());
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async #read(): Promise<Inventory | undefined> {
    if (!(await this.#isReady())) return undefined;
    try {
      const inventory = await this.#scan();
      return this.#end.signal.aborted ? undefined : this.#checkParties(inventory);
    } catch (error) {
      this.#options.log.warn({ reason: errorMessage(error) }, "inventory not printed");
      return undefined;
    }
  }

  #checkParties(inventory: Inventory): Inventory {
    const { parties, log } = this.#options;
    if (parties === undefined) return inventory;
    for (const warning of partyWarnings(inventory, parties)) log.warn({ parties }, warning);
    return withPartyWarnings(inventory, parties);
  }

  /** Waits until the source is ready. False after `close`. */
  async #isReady(): Promise<boolean> {
    const { signal } = this.#end;
    while (!signal.aborted && this.#options.source.notReadyReason() !== undefined) await this.#pause(POLL_MS);
    return !signal.aborted;
  }

  #scan(): Promise<Inventory> {
    const { registry, source, ...options } = this.#options;
    return scanInventory(source.reader, registry, { ...options, pause: this.#pause, signal: this.#end.signal });
  }
}
