/** Paths and queries that are nearly right, of characters that a client may send. */
import type { Dice } from "../prng.js";

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

/** What may not stand in a path as it is, with `%` left as it is. */
const sendable = (text: string): string =>
  text.replaceAll(/[^\u0021-\u007e]/g, (character) => encodeURIComponent(character.isWellFormed() ? character : "?"));

function otherSegment(dice: Dice, path: string): string {
  const segments = path.split("/");
  segments[dice.between(1, segments.length - 1)] = dice.chance(15) ? "a".repeat(dice.pick(LONG)) : dice.pick(SEGMENTS);
  return segments.join("/");
}

function otherCharacter(dice: Dice, path: string): string {
  const at = dice.below(path.length);
  const character = dice.chance(30)
    ? ""
    : String.fromCodePoint(dice.pick([dice.between(33, 126), dice.between(160, 0xd7ff)]));
  return path.slice(0, at) + character + path.slice(at + dice.below(2));
}

/** So many parameters that a list of them is no longer short. */
const many = (dice: Dice): string =>
  Array.from({ length: dice.between(50, 500) }, (_, index) => `a${index}=${index}`).join("&");

/** The path with one change; it begins with a slash. */
export function mutatedPath(dice: Dice, path: string): string {
  const joint = path.includes("?") ? "&" : "?";
  switch (dice.below(8)) {
    case 0:
    case 1:
    case 2:
      return sendable(otherSegment(dice, path));
    case 3:
      return sendable(`/${otherCharacter(dice, path).replace(/^\/+/, "")}`);
    case 4:
      return path + joint + dice.pick(QUERIES);
    case 5:
      return path + joint + (dice.chance(20) ? many(dice) : `${dice.pick(QUERIES)}&${dice.pick(QUERIES)}`);
    case 6:
      return path.replaceAll("/", () => (dice.chance(30) ? "//" : "/"));
    default:
      return path + dice.pick(["/", "/.", "%2f", "#a", ";a", "?", "//"]);
  }
}
