/** Settings of `npm run soak`, from the environment. */
export interface Settings {
  readonly minutes: number;
  readonly seed: number;
}

export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings | string {
  const minutes = Number(env["OFFLEDGER_SOAK_MINUTES"] ?? 15);
  if (!(minutes >= 1 && minutes <= 10_000)) return "OFFLEDGER_SOAK_MINUTES must be a number from 1 to 10000";
  const seed = Number(env["OFFLEDGER_SOAK_SEED"] ?? Date.now() % 1_000_000);
  if (!Number.isSafeInteger(seed) || seed < 0) return "OFFLEDGER_SOAK_SEED must be a whole number, 0 or more";
  return { minutes, seed };
}
