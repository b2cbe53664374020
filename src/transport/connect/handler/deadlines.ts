const MAX_TIMER_MS = 2 ** 31 - 1;

/** The result of a call, or a rejection with the signal's reason. The call itself goes on. */
export async function withDeadline<T>(call: T | Promise<T>, signal: AbortSignal): Promise<T> {
  if (!(call instanceof Promise)) return call;
  const settled = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { signal: settled.signal });
    if (signal.aborted) reject(signal.reason);
  });
  try {
    return await Promise.race([call, aborted]);
  } finally {
    settled.abort();
  }
}

/** Shortens deadlines past the longest Node.js timer: connect-es would set one that fires at once. */
export function limitDeadline(header: Headers): void {
  const connect = header.get("connect-timeout-ms") ?? "";
  if (/^\d{10}$/.test(connect) && Number(connect) > MAX_TIMER_MS) {
    header.set("connect-timeout-ms", String(MAX_TIMER_MS));
  }
  const [, number = "", unit = ""] = /^(\d{1,8})([HMS])$/.exec(header.get("grpc-timeout") ?? "") ?? [];
  const seconds = Number(number) * (unit === "H" ? 3600 : unit === "M" ? 60 : 1);
  if (seconds * 1000 > MAX_TIMER_MS) header.set("grpc-timeout", `${Math.floor(MAX_TIMER_MS / 1000)}S`);
}
