/** How much is measured. BENCH_QUICK=1 makes everything short, to try a benchmark out: its figures mean little. */
const isQuick = process.env["BENCH_QUICK"] === "1";

/** How often everything is measured, one behind the other in each round, so that a slow minute meets all of it. */
export const ROUNDS = isQuick ? 2 : 5;
/** Rounds of what is measured shortly, and often: where neighbours take the machine for some seconds, most rounds meet them in all lines, or in none. */
export const SHORT_ROUNDS = 3 * ROUNDS;
/** How many connections a load has. */
export const CONNECTIONS = 50;

/** How long something is measured or warmed up. */
export const seconds = (whole: number): number => (isQuick ? Math.max(0.3, whole / 8) : whole);
/** How large something is. */
export const size = (whole: number): number => (isQuick ? Math.ceil(whole / 20) : whole);
