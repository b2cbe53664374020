/**
 * Items as they come, those together that are there at the same time, at most so
 * many. Between two batches everything else of this process has its turn. Ends as
 * the items do, and throws as they do when all before has been given.
 */
export async function* inBatches<T>(items: AsyncIterable<T>, max: number): AsyncGenerator<readonly T[]> {
  const iterator = items[Symbol.asyncIterator]();
  const ask = () => {
    const asked = iterator.next();
    // Whoever leaves before it fails does not want to know.
    asked.catch(() => undefined);
    return asked;
  };
  for (let next = ask(); ;) {
    const first = await next;
    if (first.done === true) return;
    const batch = [first.value];
    next = ask();
    // What is there already comes before this does.
    const later = new Promise<"later">((resolve) => {
      setImmediate(resolve, "later");
    });
    while (batch.length < max) {
      const item = await Promise.race([next, later]).catch(() => "later" as const);
      if (item === "later" || item.done === true) break;
      batch.push(item.value);
      next = ask();
    }
    yield batch;
    await later;
  }
}
