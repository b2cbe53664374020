/** A follower of a log in memory. test/simulation shows it together with a mirror, and with faults. */
import type { StoreReader, StoreWriter } from "../../src/state/port.js";
import { Follower } from "../../src/state/follower.js";
import { ArrayLog } from "./array-log.js";
import { storeConformance } from "./conformance/conformance.js";

const silent = () => undefined;

function follow(log: ArrayLog, options: Partial<ConstructorParameters<typeof Follower>[0]> = {}) {
  const { signal } = new AbortController();
  const pause = () => new Promise<void>(() => undefined);
  return new Follower({
    log,
    clock: () => performance.now(),
    pause,
    signal,
    onLost: silent,
    onRecovered: silent,
    ...options,
  });
}

storeConformance("a follower of a log", async () => {
  const log = new ArrayLog();
  const follower = follow(log);
  const writer = log.begin();
  const reader: StoreReader = {
    async read(use) {
      await follower.refresh();
      return follower.read(use);
    },
  };
  const following: StoreWriter = {
    get checkpoint() {
      return writer.checkpoint;
    },
    async replace(...args) {
      await writer.replace(...args);
      await follower.refresh();
    },
    async apply(...args) {
      await writer.apply(...args);
      await follower.refresh();
    },
  };
  return { reader, writer: following, keepsBodiesApart: true, close: async () => {} };
});
