/** Mutations of paths and queries, with characters that a client can send. */
import type { Prng } from "../prng.js";

const SEGMENTS = [
  "",
  ".",
  "..",
  "%2e%2e",
  "%2f",
  "%5c",
  "%00",
  "%ff",
  "%e0%a4",
  "%",
  "%zz",
  "%25",
  "*",
  ":registrarParty",
  "__proto__",
  "constructor",
  "a:b",
  "a;b=c",
  "%f0%9f%8d%8c",
  "::1220",
  "~",
];

const QUERIES = [
  "pageSize=0",
  "pageSize=-1",
  "pageSize=1e9",
  "pageSize=99999999999999999999",
  "pageSize=1&pageSize=2",
  "page=-1&size=0",
  "page=2147483647&size=2147483647",
  "page_size=2",
  "pageToken=%00",
  "pageToken=%ff",
  "pageToken=AAAA",
  "pageToken[]=1",
  "__proto__=1",
  "__proto__[a]=1",
  "constructor.prototype.a=1",
  "=",
  "&&&",
  "%",
  "%zz=%",
  "a",
  "registrarParty=nobody",
];

const LONG = [300, 1_100, 4_000, 12_000];

const encodeForPath = (text: string): string =>
  text.replaceAll(/[^\u0021-\u007e]/g, (character) => encodeURIComponent(character.isWellFormed() ? character : "?"));

function replaceSegment(prng: Prng, path: string): string {
  const segments = path.split("/");
  segments[prng.between(1, segments.length - 1)] = prng.chance(15) ? "a".repeat(prng.pick(LONG)) : prng.pick(SEGMENTS);
  return segments.join("/");
}

function replaceCharacter(prng: Prng, path: string): string {
  const at = prng.below(path.length);
  const character = prng.chance(30)
    ? ""
    : String.fromCodePoint(prng.pick([prng.between(33, 126), prng.between(160, 0xd7ff)]));
  return path.slice(0, at) + character + path.slice(at + prng.below(2));
}

const manyParameters = (prng: Prng): string =>
  Array.from({ length: prng.between(50, 500) }, (_, index) => `a${index}=${index}`).join("&");

/** Applies one mutation. The result begins with a slash. */
export function mutatePath(prng: Prng, path: string): string {
  const joint = path.includes("?") ? "&" : "?";
  switch (prng.below(8)) {
    case 0:
    case 1:
    case 2:
      return encodeForPath(replaceSegment(prng, path));
    case 3:
      return encodeForPath(`/${replaceCharacter(prng, path).replace(/^\/+/, "")}`);
    case 4:
      return path + joint + prng.pick(QUERIES);
    case 5:
      return path + joint + (prng.chance(20) ? manyParameters(prng) : `${prng.pick(QUERIES)}&${prng.pick(QUERIES)}`);
    case 6:
      return path.replaceAll("/", () => (prng.chance(30) ? "//" : "/"));
    default:
      return path + prng.pick(["/", "/.", "%2f", "#a", ";a", "?", "//"]);
  }
}
