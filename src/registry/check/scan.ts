/** The warnings of a store: its checks, run in short steps beside its requests, and what they find, by cause. */
import { type CauseCode, findings } from "../../domain/causes.js";
import { namesOf, type ReadAs } from "../../domain/ledger.js";
import type { StoreReader, View } from "../../state/port.js";
import { abortablePause } from "../../util/async.js";
import { errorMessage, type Logger } from "../../util/logger.js";
import { backgroundContext, type StepLimits, StoreSteps } from "../background.js";
import type { CheckContext, Inventory, Registry } from "../sdk/registry.js";
import { type Check, type Warning, warningOf } from "../sdk/warnings.js";

/** Bounds memory: keeps this many warnings of each kind and only counts further ones. */
export const MAX_KEPT = 1_000;
/** A registry module may have kinds of its own, up to this many in all. */
const MAX_KINDS = 200;

/** Counts warnings by kind and keeps the first of each kind. Joins those of one cause. */
export class WarningCollector {
  /** In the order of the table. */
  readonly #kept = new Map<string, Map<string, Warning>>(Object.keys(findings).map((kind) => [kind, new Map()]));
  readonly #counts = new Map<string, number>(Object.keys(findings).map((kind) => [kind, 0]));

  add(warning: Warning): void {
    const kind = this.#kept.has(warning.kind) || this.#kept.size < MAX_KINDS ? warning.kind : "other";
    const ofKind = this.#kept.get(kind) ?? new Map<string, Warning>();
    this.#kept.set(kind, ofKind);
    const { registrar, refusal, problem, operations, count = 1 } = warning;
    const key = JSON.stringify([registrar, refusal, problem]);
    const known = ofKind.get(key);
    if (known === undefined) this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    if (known !== undefined) {
      const all = [...new Set([...known.operations, ...operations])];
      ofKind.set(key, { ...known, operations: all, count: (known.count ?? 1) + count });
    } else if (ofKind.size < MAX_KEPT) ofKind.set(key, warning);
  }

  /** Also of kinds that were not found. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The first `maxPerKind` warnings of each kind, in the order of the kinds. */
  warnings(maxPerKind: number = MAX_KEPT): readonly Warning[] {
    return [...this.#kept.values()].flatMap((ofKind) => [...ofKind.values()].slice(0, maxPerKind));
  }
}

/** `pause` is absent if nothing else has to be done. */
export interface ScanOptions extends Pick<StepLimits, "now">, Partial<Pick<StepLimits, "pause" | "signal">> {
  readonly credentialDays: number;
  /** Checks so many contracts of each template; all if absent. */
  readonly maxContracts?: number | undefined;
}

export interface ScanResult {
  readonly found: WarningCollector;
  /** How many contracts were not checked. */
  readonly unchecked: number;
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
  { credentialDays, now, pause = () => Promise.resolve(), signal, maxContracts = Infinity }: ScanOptions,
): Promise<ScanResult> {
  const end = signal ?? new AbortController().signal;
  const steps = new StoreSteps(store, { maxStep: MAX_STEP, restPerCpu: REST_PER_CPU, now, pause, signal: end });
  // Warnings are about the present: nobody keeps them.
  const contextAt = (view: View, at: number): CheckContext => ({ ...backgroundContext(view, at), credentialDays });
  const found = new WarningCollector();
  let unchecked = 0;
  let offset: number | undefined;
  for (const check of checks) {
    const { template, overall } = check;
    const listed = store.ids(template);
    const ids = listed.slice(0, maxContracts);
    const isWhole = ids.length === listed.length;
    const observed: unknown[] = [];
    let checked = 0;
    const step = steps.run(template, ids, (view, contracts, at) => {
      const context = contextAt(view, at);
      for (const warning of check.warnings(context, contracts)) found.add(warning);
      if (isWhole) observed.push(overall?.observe(context, contracts));
      offset = view.offset;
    });
    for await (const { count } of step) checked += count;
    unchecked += listed.length - checked;
    if (overall === undefined || !isWhole || end.aborted) continue;
    const at = now();
    const concluded = store.read((view) => overall.conclude(contextAt(view, at), observed));
    for (const warning of concluded) found.add(warning);
  }
  return { found, unchecked, offset };
}

/** The inventory of a store with all that its checks find. */
export interface CheckedInventory extends Inventory {
  /** At most 1,000 of a kind. */
  readonly warnings: readonly (Warning | string)[];
  /** How many warnings of each kind there are. */
  readonly warningCounts: Readonly<Record<string, number>>;
  /** How many contracts were not checked. */
  readonly unchecked: number;
}

/** As `scanWarnings`, with the summary. */
export async function scanInventory(
  store: StoreReader,
  registry: Registry,
  options: ScanOptions,
): Promise<CheckedInventory> {
  const { credentialDays } = options;
  const now = options.now();
  const summary = store.read((view) => registry.inventory(view, { now, credentialDays }));
  const { found, unchecked } = await scanWarnings(store, registry.checks ?? [], options);
  const warnings = [...(summary.warnings ?? []), ...found.warnings()];
  return { ...summary, warnings, warningCounts: found.counts, unchecked };
}

/** The inventory of a mirrored ledger, with a warning where its parties see too little. */
export const withPartyWarnings = (inventory: CheckedInventory, parties: ReadAs): CheckedInventory => ({
  ...inventory,
  warnings: [...partyWarnings(inventory, parties), ...inventory.warnings],
});

/** What `parties`, those of OFFLEDGER_LEDGER_PARTIES, do not see. */
export function partyWarnings({ counts, operators }: Inventory, parties: ReadAs): readonly Warning[] {
  const names = namesOf(parties);
  if (counts.length === 0) return partyWarning("nothing-visible", `no contract of the registry is visible to ${names}`);
  // Only a registry with an operator lists them. Of any party, nothing says which there are.
  if (operators === undefined || parties === "any" || operators.some((operator) => parties.includes(operator)))
    return [];
  const named = operators.length === 0 ? "" : `, which is ${operators.join(", ")}`;
  return partyWarning("operator-not-read", `none of ${names} is the operator of a visible contract${named}`);
}

const partyWarning = (code: CauseCode, problem: string): readonly Warning[] => [
  warningOf({ code, message: `OFFLEDGER_LEDGER_PARTIES: ${problem}` }, { operations: [] }),
];

export interface FirstInventoryOptions extends Pick<ScanOptions, "credentialDays" | "maxContracts" | "now"> {
  readonly registry: Registry;
  readonly source: {
    /** Undefined if the store is current. */
    notReadyReason(): string | undefined;
    readonly reader: StoreReader;
    /** The parties whose contracts a ledger is read for; undefined if they are not known, and for another source. */
    parties(): ReadAs | undefined;
  };
  readonly log: Logger;
}

const POLL_MS = 100;

/**
 * The inventory of a mirrored ledger or a database, when it is ready for the first time. Undefined after an abort, or if the
 * registry fails, which is logged. Never rejects.
 */
export async function firstInventory(
  { registry, source, log, ...options }: FirstInventoryOptions,
  signal: AbortSignal,
): Promise<CheckedInventory | undefined> {
  const pause = abortablePause(signal);
  const hasEnded = (): boolean => signal.aborted;
  try {
    while (!hasEnded() && source.notReadyReason() !== undefined) await pause(POLL_MS);
    if (hasEnded()) return undefined;
    const inventory = await scanInventory(source.reader, registry, { ...options, pause, signal });
    if (hasEnded()) return undefined;
    const parties = source.parties();
    return parties === undefined ? inventory : withPartyWarnings(inventory, parties);
  } catch (error) {
    log.warn({ reason: errorMessage(error) }, "inventory not printed");
    return undefined;
  }
}
