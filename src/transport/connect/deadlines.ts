/** Deadlines that callers set for their requests. */

/** The longest that a timer of Node.js may be set to, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

/** What comes of a call, or of its deadline where that is over first; the call goes on, and nobody waits for it. */
export async function inTime<T>(called: T | Promise<T>, signal: AbortSignal): Promise<T> {
  if (!(called instanceof Promise)) return called;
  const done = new AbortController();
  const over = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { signal: done.signal });
    if (signal.aborted) reject(signal.reason);
  });
  try {
    return await Promise.race([called, over]);
  } finally {
    done.abort();
  }
}

/**
 * Deadlines that are further off than a timer of Node.js reaches become the
 * furthest: connect-es would set a timer that ends at once.
 */
export function boundDeadline(header: Headers): void {
  const connect = header.get("connect-timeout-ms") ?? "";
  if (/^\d{10}$/.test(connect) && Number(connect) > LONGEST_MS) header.set("connect-timeout-ms", String(LONGEST_MS));
  const [, number = "", unit = ""] = /^(\d{1,8})([HMS])$/.exec(header.get("grpc-timeout") ?? "") ?? [];
  const seconds = Number(number) * (unit === "H" ? 3600 : unit === "M" ? 60 : 1);
  if (seconds * 1000 > LONGEST_MS) header.set("grpc-timeout", `${Math.floor(LONGEST_MS / 1000)}S`);
}
