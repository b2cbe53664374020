/** Chooses the contracts of one answer on one synchronizer, and notes which are missing there. */
import type { Failure, Status } from "./expected.js";
import { configurationsOf, type Group, type Ledger, type LedgerContract, ofGroup } from "./ledger.js";
import type { Settings } from "./settings.js";

export interface SelectionOptions {
  readonly ledger: Ledger;
  readonly settings: Settings;
  readonly registrar: string;
  readonly group: Group;
  readonly synchronizer: string;
  /** Exits require nothing. */
  readonly isExit: boolean;
  /** A transfer to oneself requires nothing, and leaves out what is in reassignment too. */
  readonly isSelf: boolean;
}

export class Selection {
  readonly options: SelectionOptions;
  /** Why there is no answer on this synchronizer. */
  readonly missing: Failure[] = [];
  /** The configurations of the instruments of the answer, by instrument id. */
  readonly configurations = new Map<string, LedgerContract>();

  constructor(options: SelectionOptions) {
    this.options = options;
  }

  fail(status: Status, ...mentions: readonly string[]): void {
    this.missing.push({ status, mentions });
  }

  /**
   * The newest candidate on the synchronizer; else 409 if one is in reassignment; else, if the operation requires it,
   * 404 without candidates and 409 with candidates elsewhere.
   */
  pick(candidates: readonly LedgerContract[], isRequired: boolean, ...mentions: string[]): LedgerContract | undefined {
    const active = candidates.find(({ synchronizerId }) => synchronizerId === this.options.synchronizer);
    if (active !== undefined) return active;
    if (this.options.isSelf && !isRequired) return undefined;
    if (candidates.some(({ synchronizerId }) => synchronizerId === undefined)) this.fail(409);
    else if (isRequired) this.fail(candidates.length === 0 ? 404 : 409, ...mentions);
    return undefined;
  }

  pickConfigurations(instruments: readonly string[]): void {
    const { ledger, registrar, group, isSelf } = this.options;
    for (const instrument of instruments) {
      const found = this.pick(ofGroup(configurationsOf(ledger, registrar, instrument), group), !isSelf, instrument);
      if (found !== undefined) this.configurations.set(instrument, found);
    }
  }
}
