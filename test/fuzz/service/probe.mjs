/** Loaded into the service before its own code: reports memory and open resources to the parent. */
import { setImmediate as turn } from "node:timers/promises";

process.on("message", async () => {
  // Objects freed by one collection may hold others.
  for (let round = 0; round < 4; round++) {
    globalThis.gc();
    await turn();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  const count = (type) => resources.filter((resource) => resource === type).length;
  process.send({ heapUsed, external, rss, sockets: count("TCPSocketWrap"), timers: count("Timeout") });
});
// The channel must not keep the service alive.
process.channel.unref();
