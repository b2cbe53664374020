import { ArrayLog } from "./array-log.js";
import { logConformance } from "./log-conformance.js";

logConformance("an array of commits", async () => {
  const log = new ArrayLog({ now: () => performance.timeOrigin + performance.now() });
  let preparing = async () => {};
  const begin = (origin?: string) => {
    return log.begin(origin, { filling: () => Promise.resolve(), preparing: () => preparing() });
  };
  let writer = begin();
  return {
    log,
    writer,
    otherWriter: async () => (writer = begin("another ledger")),
    heartbeat: (age, otherHistory) => writer.heartbeat(age, otherHistory),
    trim: async (offset) => log.trim(offset),
    async backup() {
      const content = log.backup();
      return async () => {
        log.restore(content);
        return (writer = begin());
      };
    },
    beforeSwap: (use) => void (preparing = use),
    cleanUp: async () => {},
    async answerRequests() {
      log.onCatchUpRequest = (id) => void log.caughtUp(id);
    },
    close: async () => log.endSessions(),
  };
});
