/** A step of the wall clock that is not noise, in milliseconds. */
const STEP_MS = 1_000;

/**
 * Creates a clock in milliseconds that never goes back. Unlike `performance.now` it goes on while a computer sleeps or a
 * virtual machine is paused: it also follows the wall clock when that has gone ahead.
 */
export function createClock(): () => number {
  let skipped = 0;
  let difference = Date.now() - performance.now();
  return () => {
    const elapsed = performance.now();
    const next = Date.now() - elapsed;
    if (next - difference > STEP_MS) skipped += next - difference;
    difference = next;
    return elapsed + skipped;
  };
}
