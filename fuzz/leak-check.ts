/** What may not be left behind in the service. */
import type { Inside } from "./service/service.js";

const MB = 1024 * 1024;

/** How much more than after the warm-up may be in use at the end: compiled code, tables and buffers that are kept, none of which grows on. */
const MOST_MORE = { heapUsed: 12 * MB, external: 48 * MB, rss: 256 * MB };
const MOST_MORE_TIMERS = 8;

/** Says what there is more of at the end than may be. So many connections may be left, each with a timer. */
export function leftBehind(before: Inside, after: Inside, lingering = 0): string[] {
  const wrong: string[] = [];
  for (const [name, most] of Object.entries(MOST_MORE) as [keyof typeof MOST_MORE, number][]) {
    const more = after[name] - before[name];
    if (more > most) wrong.push(`${name} has grown by ${mb(more)}, and may by ${mb(most)}`);
  }
  if (after.sockets > lingering) wrong.push(`${after.sockets} connections are open that the clients have closed`);
  if (after.timers > before.timers + MOST_MORE_TIMERS + lingering)
    wrong.push(`${after.timers} timers run, before it was ${before.timers}`);
  return wrong;
}

export const mb = (bytes: number): string => `${(bytes / MB).toFixed(1)} MiB`;
