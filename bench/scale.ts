/** How much is measured. BENCH_QUICK=1 shortens everything, to try out a change of the bench: the figures mean little. */
const isQuick = process.env["BENCH_QUICK"] === "1";

/** Each round measures every row once, so that a disturbance affects all rows alike. */
export const ROUNDS = isQuick ? 2 : 5;
/** Rounds of short measurements: most are then disturbed in all rows or in none. */
export const SHORT_ROUNDS = 3 * ROUNDS;
export const CONNECTIONS = 50;

export const scaleSeconds = (full: number): number => (isQuick ? Math.max(0.3, full / 8) : full);
export const scaleCount = (full: number): number => (isQuick ? Math.ceil(full / 20) : full);
