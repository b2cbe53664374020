/** All settings. Variables, flags, help text and the type `Config` are derived from them. */
import { authSettings } from "./settings/auth.js";
import { databaseSettings } from "./settings/database.js";
import { freshnessSettings } from "./settings/freshness.js";
import { ledgerSettings } from "./settings/ledger.js";
import { limitSettings } from "./settings/limits.js";
import { serviceSettings } from "./settings/service.js";
import type { Setting } from "./settings/setting.js";
import { settlementSettings } from "./settings/settlement.js";
import { telemetrySettings } from "./settings/telemetry.js";

export type { Setting } from "./settings/setting.js";
export { type LogLevel, logLevels } from "./settings/service.js";

/** In the order of the help text and of docs/configuration.md. */
export const settings = {
  ...serviceSettings,
  ...ledgerSettings,
  ...databaseSettings,
  ...freshnessSettings,
  ...settlementSettings,
  ...limitSettings,
  ...authSettings,
  ...telemetrySettings,
};

export type Config = {
  readonly [N in keyof typeof settings]: (typeof settings)[N] extends Setting<infer T> ? T : never;
};
