/** Optional headers for any request. */
import type { Prng } from "../prng.js";

const LINES: readonly (readonly [name: string, value: string])[] = [
  ["accept", "text/html"],
  ["accept", "*/*;q=2,,;"],
  ["accept-encoding", "gzip, br;q=a"],
  ["authorization", "Bearer a.b.c"],
  ["cookie", "a=b; =; __proto__=1"],
  ["origin", "null"],
  ["origin", "http://%00"],
  ["access-control-request-method", "POST"],
  ["access-control-request-headers", "a, b,,"],
  ["range", "bytes=0-0,-1"],
  ["if-none-match", '"a'],
  ["offledger-if-none-match", '"a,*,W/'],
  ["if-modified-since", "never"],
  ["x-forwarded-for", "::1, a"],
  ["x-forwarded-proto", "https"],
  ["forwarded", 'for="[::1'],
  ["x-http-method-override", "DELETE"],
  ["traceparent", "00-0-0-00"],
  ["x-request-id", "a".repeat(3_000)],
  ["__proto__", "a"],
  ["constructor", "a"],
  ["te", "trailers"],
  ["user-agent", ""],
  ["grpc-timeout", "1S"],
];

export function pickHeaders(prng: Prng): Record<string, string> {
  return Object.fromEntries(Array.from({ length: prng.between(1, 4) }, () => prng.pick(LINES)));
}
