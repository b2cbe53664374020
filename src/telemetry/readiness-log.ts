import type { Logger } from "../util/logger.js";

const INTERVAL_MS = 1_000;

/** Logs a line where readiness has changed: a line for each probe would hide what else the log says. */
export class ReadinessLog {
  readonly #timer: NodeJS.Timeout;

  /** `notReadyReason` returns undefined if the service is ready. What holds at first is no change. */
  constructor(notReadyReason: () => string | undefined, log: Logger, intervalMs = INTERVAL_MS) {
    let wasReady = notReadyReason() === undefined;
    this.#timer = setInterval(() => {
      const reason = notReadyReason();
      if ((reason === undefined) === wasReady) return;
      wasReady = reason === undefined;
      if (reason === undefined) log.info({}, "the service is ready");
      else log.warn({ reason }, "the service is not ready");
    }, intervalMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
