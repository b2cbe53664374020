/** Growth of buffers since the last major collection at which V8 begins another one. */
const PRESSURE_BYTES = 65 * 1024 * 1024;

/**
 * Has V8 begin a major collection in steps of a few milliseconds. Nothing else does so: `gc()` stops the process for all
 * of it. The buffer is never written to, and so takes no memory.
 */
export function beginMajorCollection(): void {
  try {
    void new ArrayBuffer(PRESSURE_BYTES);
  } catch {
    // Without address space for it, the memory stays with V8.
  }
}
