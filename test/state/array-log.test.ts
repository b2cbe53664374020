import { ArrayLog } from "./array-log.js";
import { logConformance } from "./log-conformance.js";

logConformance("an array of commits", async () => {
  const log = new ArrayLog({ now: () => performance.timeOrigin + performance.now() });
  let writer = log.begin();
  return {
    log,
    writer,
    otherWriter: async () => (writer = log.begin("another ledger")),
    heartbeat: (age, otherHistory) => writer.heartbeat(age, otherHistory),
    trim: async (offset) => log.trim(offset),
    async backup() {
      const content = log.backup();
      return async () => {
        log.restore(content);
        return (writer = log.begin());
      };
    },
    async answerRequests() {
      log.onCatchUpRequest = (id) => void log.caughtUp(id);
    },
    close: async () => log.endSessions(),
  };
});
