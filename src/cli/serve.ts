import { type App, startApp } from "../app/app.js";
import type { Config } from "../config/config.js";
import type { ProcessRoles } from "../ingest/database-source.js";
import type { CheckedInventory } from "../registry/check/scan.js";
import { errorMessage } from "../util/logger.js";
import {
  EXIT_FAILURE,
  fail,
  type Failure,
  formatInventory,
  instrumentsCommand,
  print,
  startFailure,
} from "./output.js";

export type { ProcessRoles as Roles };

/** Runs the service until SIGINT or SIGTERM: `serve`, `mirror` and `api`, which differ in their roles. */
export async function serve(config: Config, roles: ProcessRoles): Promise<void> {
  try {
    const app = await startApp(config, Date.now, roles);
    // At a terminal nobody waits for proxies.
    for (const signal of ["SIGINT", "SIGTERM"] as const)
      process.once(signal, () => exitAfter(app.close(signal, signal === "SIGTERM")));
    void app.failed?.then((error) => exitAfter(app.close("it cannot serve"), startFailure(config, error)));
    // From here on a signal stops it in order.
    const { url, notReadyReason, inventory: initial, log } = app;
    log.info({ notReadyReason, url }, `offledger ${initial === undefined ? "listens" : "serves"} at ${url}`);
    // Elsewhere the log says it: its lines are JSON.
    if (!process.stdout.isTTY) return;
    print(formatStart(app));
    if (app.inventory !== undefined) return;
    const inventory = await app.firstInventory();
    if (inventory !== undefined) print(formatFirstInventory(app.url, inventory));
  } catch (error) {
    fail(startFailure(config, error));
  }
}

function exitAfter(closing: Promise<void>, failure?: Failure): void {
  void closing
    .catch((error: unknown) => fail({ message: errorMessage(error), exitCode: EXIT_FAILURE }))
    .then(() => {
      if (failure !== undefined) fail(failure);
      process.exit();
    });
}

/** What a started service serves, and a request to try. */
export function formatStart({ url, source, notReadyReason, inventory }: App): string {
  if (inventory === undefined) {
    const state = notReadyReason === undefined ? "Ready" : `Not ready yet: ${notReadyReason}`;
    return [`offledger follows ${source} and listens at ${url}`, "", `${state}; see ${url}/readyz`, ""].join("\n");
  }
  return `offledger serves ${source} at ${url}\n${formatFirstInventory(url, inventory)}`;
}

/** What a service at this URL serves, which it may know only some time after its start. */
function formatFirstInventory(url: string, inventory: CheckedInventory): string {
  return [
    "",
    ...formatInventory(inventory),
    "",
    `API documentation: ${url}/docs`,
    ...inventory.registrars.slice(0, 1).flatMap(({ party }) => ["", "Try:", `  ${instrumentsCommand(url, party)}`]),
    "",
  ].join("\n");
}
