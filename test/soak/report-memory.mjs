/** Loaded into the service before its own code: reports memory to the soak, and exits with it. */
process.on("message", () => {
  // The second collection takes what the first one finalized.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send?.({ heap: heapUsed + external, rss });
});
process.on("disconnect", () => process.exit());
// The channel must not keep the service alive.
process.channel?.unref();
