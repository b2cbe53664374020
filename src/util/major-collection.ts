/** Growth of buffers since the last major collection at which V8 begins another one. */
const PRESSURE_BYTES = 65 * 1024 * 1024;

/**
 * Makes V8 begin an incremental major collection, in steps of a few milliseconds. `gc()` would block the event loop for
 * all of it. The buffer is never written to, so it takes address space and no memory.
 */
export function beginMajorCollection(): void {
  try {
    void new ArrayBuffer(PRESSURE_BYTES);
  } catch {
    // There is no address space for it. V8 collects when it has to.
  }
}
