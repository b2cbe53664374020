/** Runs the clients of the streams in their own process. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { serve } from "../../processes/child.js";
import type { Commits } from "../ledger/process.js";
import { Crowd, type CrowdOptions } from "./crowd.js";
import { type StreamFigures, streamFigures } from "./figures.js";
import { now } from "./stream-log.js";

export type LoadQuestion =
  | { readonly do: "open" }
  /** Figures are of the time from now on. */
  | { readonly do: "mark" }
  /** Clients that did not read do so from now on, and figures are of that time. */
  | { readonly do: "resume" }
  | { readonly do: "measure"; readonly commits: Commits | undefined }
  | { readonly do: "close" };

export interface LoadFigures extends StreamFigures {
  /** Of this process, in milliseconds: it adds to the delays of updates. */
  readonly loopDelayP99: number;
  /** Streams that the service refused at first. */
  readonly refused: number;
}

const RESOLUTION_MS = 5;

serve<CrowdOptions, LoadQuestion>(async (options) => {
  const crowd = new Crowd(options);
  const loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  loop.enable();
  let from = now();
  const mark = (): void => {
    from = now();
    loop.reset();
  };
  const answer = async (question: LoadQuestion): Promise<number | LoadFigures> => {
    switch (question.do) {
      case "open":
        return crowd.open();
      case "measure": {
        const loopDelayP99 = loop.percentile(99) / 1e6 - RESOLUTION_MS;
        const figures = streamFigures(crowd.logs, from, now(), question.commits, options.registrars);
        return { ...figures, loopDelayP99, refused: crowd.refused };
      }
      case "mark":
        mark();
        return 0;
      case "resume":
        mark();
        await crowd.resume();
        return 0;
      case "close":
        crowd.close();
        return 0;
    }
  };
  return { started: "started", answer };
});
