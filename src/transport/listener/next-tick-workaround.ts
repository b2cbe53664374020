import { executionAsyncResource } from "node:async_hooks";

let kept: object | undefined;

/**
 * Keeps what `process.nextTick` makes from becoming slow for good. Node.js fills the object of a tick by computed
 * names; V8 compiles that for the hidden class it has seen, holds the class weakly, and where a few collections in a
 * row find no tick alive, as while a snapshot is read, it forgets the class and never learns another: a tick then takes
 * 220 ns rather than 40, and a request has several. So one tick is kept, and with it the class. To be called at start.
 */
export function avoidNextTickDeoptimisation(): void {
  process.nextTick(() => {
    kept ??= executionAsyncResource();
  });
}
