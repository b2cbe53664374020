/** What the scenarios differ in. */

export interface WatchScenario {
  /** Half of them are server-sent events over HTTP/1.1, half gRPC. */
  readonly streams: number;
  /** Updates a second. */
  readonly rate: number;
  readonly seconds: number;
  /** Each stream selects one of as many registrars as there are streams, to which the updates belong in turn. */
  readonly isFiltered: boolean;
  /** Whether clients read their streams. Otherwise they read again afterwards. */
  readonly reads: boolean;
  /** Whether a caller sends plain requests beside the streams. */
  readonly hasCaller: boolean;
}

const updates: WatchScenario = {
  streams: 1_000,
  rate: 1_000,
  seconds: 20,
  isFiltered: false,
  reads: true,
  hasCaller: true,
};

export const watchScenarios = {
  /** Long enough for two heartbeats of each stream. */
  idle: { ...updates, streams: 10_000, rate: 0, seconds: 25, hasCaller: false },
  updates,
  filtered: { ...updates, isFiltered: true },
  slow: { ...updates, streams: 100, reads: false },
} as const satisfies Record<string, WatchScenario>;

export type WatchScenarioName = keyof typeof watchScenarios;

export const watchScenarioNames = Object.keys(watchScenarios) as readonly WatchScenarioName[];

/** The registrar of an update or a stream, by its number. */
export const registrarOf = (index: number, registrars: number): string => `registrar-${index % registrars}::1220bench`;
