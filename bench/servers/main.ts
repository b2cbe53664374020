/** Runs one server in its own process, and reports its resource usage. */
import { startApp } from "../../src/app/app.js";
import { readConfig } from "../../src/config/config.js";
import { serve } from "../processes/child.js";
import { startFastifyBaseline, startHttp2Baseline } from "./baseline.js";
import { startConnectNode } from "./connect-node.js";
import { countRoundTrips } from "./round-trips.js";
import type { Question, Reply, Target } from "./target.js";

serve<Target, Question>(async (target) => ({ started: await startTarget(target), answer }));

function startTarget(target: Target): Promise<string> {
  switch (target.server) {
    case "offledger":
      return startService(target);
    case "connect-node":
      return startConnectNode(target);
    case "fastify":
      return startFastifyBaseline(target.bodies);
    case "http2":
      return startHttp2Baseline(target.messages);
  }
}

async function startService({ settings, roles }: Extract<Target, { server: "offledger" }>): Promise<string> {
  // Every request is answered.
  const maxDelay = { OFFLEDGER_MAX_DELAY_MS: "60000" };
  const read = readConfig([], { OFFLEDGER_PORT: "0", OFFLEDGER_LOG_LEVEL: "error", ...maxDelay, ...settings });
  if (!read.ok) throw new Error(read.errors.join("\n"));
  return (await startApp(read.config, Date.now, roles)).url;
}

function answer(question: Question): Reply {
  switch (question) {
    case "cpu":
      return { cpu: cpuMicroseconds() };
    case "memory": {
      // The second collection takes what the first one finalized.
      for (let count = 0; count < 2; count++) globalThis.gc?.();
      const { rss, heapUsed, external } = process.memoryUsage();
      const peak = process.resourceUsage().maxRSS * 1024;
      return { memory: { rss, heap: heapUsed + external, peak } };
    }
    case "roundTrips":
      return { roundTrips: countRoundTrips() };
  }
}

/** CPU time of all threads: they share one core, so the event loop waits for the others. */
function cpuMicroseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
