interface Result {
  readonly message: Buffer;
  readonly compressed: Buffer;
}

/** Compressing a shorter message costs little more than to find it. */
const MIN_BYTES = 16 * 1024;
const MAX_BYTES = 1024 * 1024;
const MAX_RESULTS = 4;

/**
 * The last large messages with their compressed form. To compare a message costs 1 % of compressing it; can go when zlib
 * compresses as fast as memory is copied.
 */
export class RecentResults {
  #results: readonly Result[] = [];

  find(message: Buffer): Buffer | undefined {
    const found = this.#results.find((result) => result.message.equals(message));
    if (found !== undefined) this.#putFirst(found);
    return found?.compressed;
  }

  add(message: Buffer, compressed: Buffer): void {
    if (message.length < MIN_BYTES || message.length > MAX_BYTES || this.find(message) !== undefined) return;
    this.#putFirst({ message, compressed });
  }

  #putFirst(result: Result): void {
    this.#results = [result, ...this.#results.filter((other) => other !== result)].slice(0, MAX_RESULTS);
  }
}
