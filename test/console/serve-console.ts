/** The service with the operator's port, from the demo registry. */
import { startApp } from "../../src/app/app.js";
import type { Config } from "../../src/config/config.js";
import { quiet } from "../fixtures/run-service.js";

export interface ServedConsole {
  /** The base URL of the public port. */
  readonly publicUrl: string;
  /** The base URL of the operator's port. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the service at the time of the demo. */
export async function serveConsole(config: Partial<Config> = {}): Promise<ServedConsole> {
  const now = Date.parse("2026-06-01T00:00:00Z");
  const app = await startApp({ ...quiet(), metricsPort: 0, ...config }, () => now);
  if (app.metricsUrl === undefined) throw new Error("the operator's port is not served");
  return { publicUrl: app.url, url: new URL(app.metricsUrl).origin, close: () => app.close() };
}
