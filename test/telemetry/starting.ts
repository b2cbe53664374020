/** Starts the service with telemetry for the duration of a test. */
import { onTestFinished } from "vitest";
import { type App, startApp } from "../../src/app/app.js";
import type { Config } from "../../src/config/config.js";
import type { Roles } from "../../src/ingest/database-source.js";
import { quiet } from "../fixtures/run-service.js";

/** A time at which the credentials of the demo registry are valid. */
const NOW = Date.parse("2026-06-01T00:00:00Z");

/** Without load shedding and request log, unless configured. */
export async function start(config: Partial<Config>, roles?: Roles, now: () => number = () => NOW): Promise<App> {
  const app = await startApp({ ...quiet(), logRequests: "none", ...config }, now, roles);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= app.close());
  onTestFinished(close);
  return { ...app, close };
}
