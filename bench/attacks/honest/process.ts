/** Runs the honest caller in its own process. */
import { setPriority } from "node:os";
import { serve } from "../../processes/child.js";
import { HonestCaller } from "./caller.js";
import type { PhaseName } from "./figures.js";
import { type HonestRequest, honestRequests } from "./requests.js";

export interface HonestOptions {
  readonly url: string;
  readonly token?: string | undefined;
  /** Those to the demo registry by default. */
  readonly requests?: readonly HonestRequest[];
}

export type HonestQuestion = PhaseName | "finish";

const PRIORITY = -10;

serve<HonestOptions, HonestQuestion>(async ({ url, token, requests = honestRequests }) => {
  try {
    // It shares its core with the attacker, whose CPU time must not count as latency.
    setPriority(PRIORITY);
  } catch {
    process.stderr.write(
      "honest caller: no right to raise its priority, so the attacker's CPU time adds to latencies\n",
    );
  }
  const caller = new HonestCaller(url, requests, token);
  return {
    started: "started",
    answer: async (question) => {
      if (question === "finish") return caller.finish();
      caller.enter(question);
      return "entered";
    },
  };
});
