/** Mutations of bytes, of JSON as a value and as text, and of paths. */
import type { JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import type { Prng } from "./prng.js";

/** Invalid UTF-8: impossible bytes, an overlong form, a surrogate, a code point out of range, a truncated sequence. */
const NOT_UTF8 = "ff fe c080 eda080 f4908080 e282 80".split(" ").map((text) => Buffer.from(text, "hex"));

/** Protobuf varints: the maximum, one without an end, lengths larger than any message, padded zeros. */
const VARINTS = "ffffffffffffffffff01 ffffffffffffffffffffffff ffffffff0f ffffffff07 80808000 808040"
  .split(" ")
  .map((text) => Buffer.from(text, "hex"));

const insert = (bytes: Buffer, at: number, more: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]);

function changeByte(
  prng: Prng,
  bytes: Buffer,
  change: (byte: number) => number,
  at = prng.below(bytes.length),
): Buffer {
  const copy = Buffer.from(bytes);
  if (at < copy.length) copy[at] = change(copy[at] ?? 0);
  return copy;
}

const byteMutations: readonly ((prng: Prng, bytes: Buffer) => Buffer)[] = [
  (prng, bytes) => changeByte(prng, bytes, (byte) => byte ^ (1 << prng.below(8))),
  (prng, bytes) => changeByte(prng, bytes, () => prng.pick([0, 1, 0x7f, 0x80, 0xff, prng.below(256)])),
  // The lowest three bits of a field tag are its wire type. The first byte is a tag.
  (prng, bytes) => changeByte(prng, bytes, (byte) => (byte & 0xf8) | prng.below(8), prng.chance(50) ? 0 : undefined),
  (prng, bytes) => bytes.subarray(0, prng.below(bytes.length)),
  (prng, bytes) => bytes.subarray(prng.below(bytes.length)),
  (prng, bytes) => insert(bytes, prng.below(bytes.length + 1), prng.pick(NOT_UTF8)),
  (prng, bytes) => insert(bytes, prng.below(bytes.length + 1), prng.pick(VARINTS)),
  (prng, bytes) => insert(bytes, prng.below(bytes.length + 1), prng.bytes(prng.between(1, 16))),
  (prng, bytes) => {
    const from = prng.below(bytes.length);
    return insert(bytes, prng.below(bytes.length + 1), bytes.subarray(from, from + prng.between(1, 200)));
  },
  (prng) => prng.bytes(prng.below(100)),
];

/** Applies one to `max` mutations. */
export function mutateBytes(prng: Prng, bytes: Buffer, max = 4): Buffer {
  let changed = bytes;
  for (let left = prng.between(1, max); left > 0; left--) changed = prng.pick(byteMutations)(prng, changed);
  return changed;
}

const anyJson = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;

/** Names with a meaning in JavaScript or in our messages, and invalid ones. */
const NAMES = [..."__proto__ constructor prototype toString then toJSON values tag".split(" "), "", "\u0000", "\ud800"];

const STRINGS = [
  ...NAMES,
  ..."\udfff\ud800 \ufeff \u202e\u2028 1e400 -1 NaN 9999-99-99T99:99:99Z ::1220 %00 ../../..".split(" "),
  "'; drop table contracts; --",
];

const NUMBERS = [
  0,
  -0,
  -1,
  0.1,
  1e308,
  -1e308,
  5e-324,
  ...[31, 32, 53, 63, 64].map((power) => 2 ** power),
  1 - 2 ** 53,
];

const valueMutations: readonly ((prng: Prng, old: JsonValue) => JsonValue)[] = [
  () => null,
  (prng) => prng.chance(50),
  (prng) => prng.pick(NUMBERS),
  (prng) => prng.pick(STRINGS),
  (prng) => prng.pick(STRINGS).repeat(prng.between(2, 400)),
  (_prng, old) => [old],
  (prng, old) => Array.from({ length: prng.between(2, 150) }, () => old),
  (prng, old) => ({ [prng.pick(NAMES)]: old }),
  (prng, old) => nestValue(prng, old, prng.between(2, 120)),
  (prng) => prng.of(anyJson),
];

function nestValue(prng: Prng, inner: JsonValue, depth: number): JsonValue {
  let value = inner;
  const inLists = prng.chance(50);
  for (let left = depth; left > 0; left--) value = inLists ? [value] : { values: value };
  return value;
}

/** Mutates one place of the value; places of the same level are equally likely. */
export function mutateJson(prng: Prng, value: JsonValue): JsonValue {
  const isLeaf = typeof value !== "object" || value === null || Object.keys(value).length === 0;
  if (isLeaf || prng.chance(12)) return prng.pick(valueMutations)(prng, value);
  if (Array.isArray(value)) {
    const at = prng.below(value.length);
    return value.flatMap((inner, index) => (index === at ? mutateEntry(prng, inner) : [inner]));
  }
  const entries = Object.entries(value);
  const at = prng.below(entries.length);
  // Object.fromEntries makes "__proto__" an ordinary property.
  return Object.fromEntries<JsonValue>(
    entries.flatMap(([name, inner], index): [string, JsonValue][] => {
      if (index !== at) return [[name, inner]];
      if (prng.chance(6)) return [[prng.pick(NAMES), inner]];
      if (prng.chance(6)) return Object.entries({ [prng.pick(NAMES)]: inner, [name]: inner });
      return mutateEntry(prng, inner).map((changed) => [name, changed]);
    }),
  );
}

const mutateEntry = (prng: Prng, inner: JsonValue): JsonValue[] => (prng.chance(10) ? [] : [mutateJson(prng, inner)]);

/** Tokens that are invalid JSON, or numbers out of range. */
const TOKENS = [
  ...`1e999999 - 00 +1 NaN undefined tru 0x10 -1e-999999 "\\u12" "\\ud800" 'a'`.split(" "),
  "1".repeat(400),
];

const insertAt = (prng: Prng, text: string, more: string): string => {
  const place = prng.below(text.length + 1);
  return text.slice(0, place) + more + text.slice(place);
};

const textMutations: readonly ((prng: Prng, text: string) => string)[] = [
  (prng, text) => text.replace(/:("[^"]*"|[\d.]+|true|false|null)/, `:${prng.pick(TOKENS)}`),
  (prng, text) => text.replace(/"([^"]+)":/, (key) => `${key}${prng.pick(["1", "{}", "[]", '"a"', "null"])},${key}`),
  (prng, text) =>
    text.replace("{", `{"${prng.pick(["__proto__", String.raw`__pr\u006fto__`, "constructor"])}":{"a":1},`),
  (_prng, text) => text.replaceAll(/[a-f]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`),
  (prng, text) =>
    insertAt(prng, text, prng.pick([",", "{", "]", '"', "\\", "\u0000", "/*a*/", "\ufeff", "\u2028", " ".repeat(500)])),
  (prng, text) => text.slice(0, prng.below(text.length)),
  (prng, text) => text + prng.pick([text, "}", "\u0000", "null", " ", "\n\n"]),
  (prng, text) => {
    const depth = prng.pick([30, 60, 200, 3_000, 30_000]);
    const opens = ["[", '{"a":', '{"__proto__":'] as const;
    const open = prng.pick(opens);
    const close = prng.chance(25) ? "" : open === "[" ? "]" : "}";
    return `{"meta":${open.repeat(depth)}${text}${close.repeat(depth)}}`;
  },
];

export const mutateJsonText = (prng: Prng, text: string): string => prng.pick(textMutations)(prng, text);

const SEGMENTS =
  " . .. %2e%2e %2f %5c %00 %ff %e0%a4 % %zz %25 * :registrarParty __proto__ constructor a:b a;b=c %f0%9f%8d%8c ::1220 ~".split(
    " ",
  );

const QUERIES = [
  ..."pageSize=0 pageSize=-1 pageSize=1e9 pageSize=99999999999999999999 pageSize=1&pageSize=2 page_size=2".split(" "),
  ..."page=-1&size=0 page=2147483647&size=2147483647 pageToken=%00 pageToken=%ff pageToken=AAAA pageToken[]=1".split(
    " ",
  ),
  ..."__proto__=1 __proto__[a]=1 constructor.prototype.a=1 = &&& % %zz=% a registrarParty=nobody".split(" "),
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
