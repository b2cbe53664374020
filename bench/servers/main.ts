/** One server in a process of its own, which tells what it uses when it is asked. */
import { startApp } from "../../src/app/app.js";
import { readConfig } from "../../src/config/config.js";
import { serve } from "../processes/child.js";
import { startQuerying } from "../passthrough/server.js";
import { startFastify, startHttp2 } from "./baseline.js";
import { cpuMicros, seen, watch } from "./loop-delay.js";
import { startStock } from "./connect-node.js";
import type { Asked, Target, Told } from "./target.js";
import { trips } from "./round-trips.js";

serve<Target, Asked>(async (target) => ({ begun: await begin(target), answer }));

function begin(target: Target): Promise<string> {
  switch (target.server) {
    case "offledger":
      return startService(target);
    case "stock":
      return startStock(target);
    case "fastify":
      return startFastify(target.answers);
    case "http2":
      return startHttp2(target.answers);
    case "querying":
      return startQuerying(target);
  }
}

async function startService({ settings, roles }: Extract<Target, { server: "offledger" }>): Promise<string> {
  // What a load has to be refused in an overload is measured by itself; elsewhere each request is answered.
  const patience = { OFFLEDGER_MAX_DELAY_MS: "60000" };
  const read = readConfig([], { OFFLEDGER_PORT: "0", OFFLEDGER_LOG_LEVEL: "error", ...patience, ...settings });
  if (!read.ok) throw new Error(read.wrong.join("\n"));
  return (await startApp(read.config, Date.now, roles)).url;
}

function answer(asked: Asked): Told {
  switch (asked) {
    case "cpu":
      return { cpu: cpuMicros() };
    case "memory": {
      // What the first leaves to be finalized the second takes.
      for (let time = 0; time < 2; time++) globalThis.gc?.();
      const { rss, heapUsed, external } = process.memoryUsage();
      const peak = process.resourceUsage().maxRSS * 1024;
      return { memory: { rss, heap: heapUsed + external, peak } };
    }
    case "watch":
      watch();
      return {};
    case "pauses":
      return { pauses: seen() };
    case "trips":
      return { trips: trips() };
  }
}
