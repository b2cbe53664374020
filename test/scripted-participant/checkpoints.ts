/** When a stream of updates tells the ledger's end. */
import type { Stream } from "./stream.js";

/** When an open stream sends an OffsetCheckpoint. In milliseconds. */
export interface CheckpointTimes {
  /** After the stream has opened. */
  readonly opening: number;
  /** The least time between two while the ledger moves. */
  readonly traffic: number;
  /** After the last movement of the ledger, if the stream has not told its end. */
  readonly idle: number;
}

/** As recorded. A real participant needs 0.6 to 6, 14 to 15, and 64 to 75 seconds. */
const REAL_TIMES: CheckpointTimes = { opening: 600, traffic: 15_000, idle: 64_000 };

/** A number shortens all of them. Absent ones are real. */
export type CheckpointMs = number | Partial<CheckpointTimes>;

export function checkpointTimes(given: CheckpointMs): CheckpointTimes {
  return typeof given === "number" ? { opening: given, traffic: given, idle: given } : { ...REAL_TIMES, ...given };
}

/** When the next OffsetCheckpoint of a stream is due. */
export class CheckpointClock {
  readonly #times: CheckpointTimes;
  readonly #stream: Stream;
  readonly #opened = performance.now();
  #sent: number | undefined;
  #moved: number | undefined;

  constructor(times: CheckpointMs, stream: Stream) {
    this.#times = checkpointTimes(times);
    this.#stream = stream;
  }

  moved(): void {
    this.#moved = performance.now();
  }

  sent(): void {
    this.#sent = performance.now();
    this.#moved = undefined;
  }

  /** Milliseconds until a checkpoint is due; undefined for none until the ledger moves. */
  dueMs(isBehind: boolean): number | undefined {
    const due = this.#due(isBehind);
    if (due === undefined) return undefined;
    return Math.max(0, Math.ceil(due - performance.now()), this.#stream.checkpointsWithheldMs);
  }

  #due(isBehind: boolean): number | undefined {
    const { opening, traffic, idle } = this.#times;
    if (this.#sent === undefined) return this.#opened + opening;
    if (!isBehind || this.#moved === undefined) return undefined;
    // Only a movement of the ledger makes a stream look for a checkpoint, or else its idle time.
    const byTraffic = this.#sent + traffic;
    return this.#moved >= byTraffic ? byTraffic : this.#moved + idle;
  }
}
