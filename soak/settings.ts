/** What the environment says about a soak. */
export interface Settings {
  readonly minutes: number;
  readonly seed: number;
}

/** A text says what is wrong with it, and what it takes. */
export function settingsOf(env: Readonly<Record<string, string | undefined>>): Settings | string {
  const minutes = Number(env["OFFLEDGER_SOAK_MINUTES"] ?? 15);
  if (!(minutes >= 1 && minutes <= 10_000)) return "OFFLEDGER_SOAK_MINUTES takes a number from 1 to 10000";
  const seed = Number(env["OFFLEDGER_SOAK_SEED"] ?? Date.now() % 1_000_000);
  if (!Number.isSafeInteger(seed) || seed < 0) return "OFFLEDGER_SOAK_SEED takes a whole number from 0 on";
  return { minutes, seed };
}
