/** What one stream has received. */

export interface ReceivedEvent {
  readonly type: string;
  readonly offset: number;
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly bytes: number;
}

export const now = (): number => performance.timeOrigin + performance.now();

export class StreamLog {
  readonly events: ReceivedEvent[] = [];
  /** Why it ended before its time. */
  end: string | undefined;
  #settled: (() => void) | undefined;

  /** `registrar` is the number of the registrar that the stream selects; undefined for all. */
  constructor(readonly registrar: number | undefined) {}

  /** Resolves with the first event or the end. */
  async begun(): Promise<void> {
    if (this.events.length === 0 && this.end === undefined)
      await new Promise<void>((resolve) => (this.#settled = resolve));
  }

  receive(type: string, offset: number, bytes: number): void {
    this.events.push({ type, offset, at: now(), bytes });
    this.#settled?.();
    this.#settled = undefined;
  }

  ended(reason: string): void {
    this.end ??= reason;
    this.#settled?.();
    this.#settled = undefined;
  }
}
