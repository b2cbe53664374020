/** Loaded into the service before it starts: tells its memory to the soak, and does not outlive it. */
process.on("message", () => {
  // Twice: what the first leaves to finalizers is gone after the second.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send?.({ heap: heapUsed + external, rss });
});
process.on("disconnect", () => process.exit());
// The service ends by itself when it is stopped.
process.channel?.unref();
