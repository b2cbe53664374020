import type { Logger } from "./logger.js";
import { withTimeout } from "./async.js";

/** A step is abandoned after this multiple of its own timeout. */
const TOLERANCE = 3;

/**
 * Awaits a step that a timer of its own should end within `milliseconds`. If it has not moved for three times as long,
 * warns, abandons it and throws, so that the caller starts it again. `release` frees what an abandoned step still brings.
 */
export function watch<T>(
  log: Logger,
  step: string,
  milliseconds: number,
  result: Promise<T>,
  release: (late: T) => void = () => undefined,
): Promise<T> {
  const limit = TOLERANCE * milliseconds;
  return withTimeout(result, limit, () => {
    result.then(release, () => undefined);
    const message = `${step} has not moved for ${Math.round(limit / 1000)} s`;
    log.warn({ step, waited: limit }, `${message}; it is started again`);
    throw new Error(message);
  });
}
