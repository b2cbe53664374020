/** Loaded into the service before its own code: tells the parent how much memory is in use, and what is open. */
import { setImmediate as turn } from "node:timers/promises";

process.on("message", async () => {
  // What the first collection frees may hold on to more.
  for (let round = 0; round < 4; round++) {
    globalThis.gc();
    await turn();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const open = process.getActiveResourcesInfo();
  const count = (kind) => open.filter((one) => one === kind).length;
  process.send({ heapUsed, external, rss, sockets: count("TCPSocketWrap"), timers: count("Timeout") });
});
// To be asked is no reason to go on.
process.channel.unref();
