/** Starts the honest caller, which shares its core with the load. */
import { startChild } from "../../processes/child.js";
import { LOAD_CORE } from "../../processes/pinning.js";
import type { HonestOptions, HonestQuestion } from "./process.js";

const START_TIMEOUT_MS = 30_000;

export const startHonest = (options: HonestOptions) =>
  startChild<HonestQuestion, unknown>({
    script: new URL("process.js", import.meta.url),
    core: LOAD_CORE,
    options,
    startTimeoutMs: START_TIMEOUT_MS,
  });
