/** Starts the clients, which share their core with the participant. */
import { startChild } from "../../processes/child.js";
import { LOAD_CORE } from "../../processes/pinning.js";
import type { Commits } from "../ledger/process.js";
import type { CrowdOptions } from "./crowd.js";
import type { LoadFigures, LoadQuestion } from "./process.js";

const START_TIMEOUT_MS = 30_000;
const OPEN_TIMEOUT_MS = 130_000;
const MEASURE_TIMEOUT_MS = 60_000;

export async function startClients(options: CrowdOptions) {
  const child = await startChild<LoadQuestion, unknown>({
    script: new URL("process.js", import.meta.url),
    core: LOAD_CORE,
    options,
    startTimeoutMs: START_TIMEOUT_MS,
  });
  // The reply has the type of the question.
  return {
    open: async () => (await child.ask({ do: "open" }, OPEN_TIMEOUT_MS)) as number,
    mark: async () => void (await child.ask({ do: "mark" })),
    resume: async () => void (await child.ask({ do: "resume" })),
    measure: async (commits?: Commits) =>
      (await child.ask({ do: "measure", commits }, MEASURE_TIMEOUT_MS)) as LoadFigures,
    close: async () => void (await child.ask({ do: "close" })),
    stop: () => child.stop(),
  };
}
