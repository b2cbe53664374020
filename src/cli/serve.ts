import { startApp } from "../app/app.js";
import type { Config } from "../config/config.js";
import type { Roles } from "../ingest/source/database-source.js";
import { EXIT_FAILURE, fail, messageOf, startFailure } from "./failure.js";
import { formatFirstInventory, formatStart, print } from "./output.js";

export type { Roles };

/** Runs the service until SIGINT or SIGTERM: `serve`, `mirror` and `api`, which differ in their roles. */
export async function serve(config: Config, roles: Roles): Promise<void> {
  try {
    const app = await startApp(config, Date.now, roles);
    // At a terminal nobody waits for proxies.
    closeOnSignal((signal) => app.close(signal, signal === "SIGTERM"));
    // A caller may send a signal as soon as it reads this output.
    print(formatStart(app));
    if (app.inventory !== undefined) return;
    const inventory = await app.firstInventory();
    if (inventory !== undefined) print(formatFirstInventory(app.url, inventory));
  } catch (error) {
    fail(startFailure(config, error));
  }
}

function closeOnSignal(close: (signal: string) => Promise<void>): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      close(signal).then(
        () => process.exit(0),
        (error: unknown) => {
          fail({ message: messageOf(error), exitCode: EXIT_FAILURE });
          process.exit();
        },
      );
    });
  }
}
