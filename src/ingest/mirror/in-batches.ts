/** The largest batch of updates that is written at once. */
export const MAX_BATCH = 100;

/** Batches items available together, yielding to the event loop in between. Source errors follow earlier items. */
export async function* inBatches<T>(items: AsyncIterable<T>, max: number): AsyncGenerator<readonly T[]> {
  const iterator = items[Symbol.asyncIterator]();
  const request = () => {
    const next = iterator.next();
    // A consumer that leaves early must not cause an unhandled rejection.
    next.catch(() => undefined);
    return next;
  };
  for (let next = request(); ;) {
    const first = await next;
    if (first.done === true) return;
    const batch = [first.value];
    next = request();
    // Items that are available now resolve before setImmediate does.
    const later = new Promise<"later">((resolve) => {
      setImmediate(resolve, "later");
    });
    while (batch.length < max) {
      const item = await Promise.race([next, later]).catch(() => "later" as const);
      if (item === "later" || item.done === true) break;
      batch.push(item.value);
      next = request();
    }
    yield batch;
    await later;
  }
}
