/** What many scripts have done. */
export class Figures {
  asked = 0;
  readonly statuses: Record<string, number> = {};
  kept = 0;
  notModified = 0;
  /** Answers from the cache. */
  served = 0;
  /** Answers that the cache could have given, each compared with the states. */
  checked = 0;
  /** Answers dropped by `changed`, and those of them that had changed. */
  dropped = 0;
  changed = 0;
  readonly events: Record<string, number> = {};

  /** The share of the dropped answers that had changed. */
  get useful(): number {
    return this.changed / this.dropped;
  }

  toString(): string {
    return JSON.stringify(Object.assign({}, this, { useful: this.useful }));
  }
}
