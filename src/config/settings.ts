/**
 * Every setting, from which its variable, its flag, its default, the help text
 * and the type of the configuration follow.
 */
import { databaseSettings } from "./settings/database.js";
import { accessSettings, limitSettings } from "./settings/limits.js";
import { freshnessSettings, ledgerSettings } from "./settings/ledger.js";
import { serviceSettings } from "./settings/service.js";
import type { Setting } from "./settings/setting.js";
import { settlementSettings } from "./settings/settlement.js";
import { telemetrySettings } from "./settings/telemetry.js";

export type { Setting } from "./settings/setting.js";
export { type LogLevel, logLevels } from "./settings/service.js";

/** In the order in which help and README list them. */
export const settings = {
  ...serviceSettings,
  ...ledgerSettings,
  ...databaseSettings,
  ...freshnessSettings,
  ...settlementSettings,
  ...limitSettings,
  ...accessSettings,
  ...telemetrySettings,
};

/** A value for each setting. */
export type Config = {
  readonly [N in keyof typeof settings]: (typeof settings)[N] extends Setting<infer T> ? T : never;
};
