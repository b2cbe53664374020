/** Mutations of JSON, as a value and as text. */
import type { JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import type { Prng } from "../prng.js";

const anyJson = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;

/** Names with a meaning in JavaScript or in our messages, and invalid ones. */
const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "then",
  "toJSON",
  "",
  "\u0000",
  "\ud800",
  "values",
  "tag",
];

const STRINGS = [
  ...NAMES,
  "\udfff\ud800",
  "\ufeff",
  "\u202e\u2028",
  "1e400",
  "-1",
  "NaN",
  "9999-99-99T99:99:99Z",
  "::1220",
  "%00",
  "../../..",
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
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2 ** 63,
  2 ** 64,
  Number.MIN_SAFE_INTEGER,
];

function replaceValue(prng: Prng, old: JsonValue): JsonValue {
  switch (prng.below(10)) {
    case 0:
      return null;
    case 1:
      return prng.chance(50);
    case 2:
      return prng.pick(NUMBERS);
    case 3:
      return prng.pick(STRINGS);
    case 4:
      return prng.pick(STRINGS).repeat(prng.between(2, 400));
    case 5:
      return [old];
    case 6:
      return Array.from({ length: prng.between(2, 150) }, () => old);
    case 7:
      return { [prng.pick(NAMES)]: old };
    case 8:
      return nestValue(prng, old, prng.between(2, 120));
    default:
      return prng.of(anyJson);
  }
}

function nestValue(prng: Prng, inner: JsonValue, depth: number): JsonValue {
  let value = inner;
  const inLists = prng.chance(50);
  for (let left = depth; left > 0; left--) value = inLists ? [value] : { values: value };
  return value;
}

/** Mutates one place of the value; places of the same level are equally likely. */
export function mutateJson(prng: Prng, value: JsonValue): JsonValue {
  const isLeaf = typeof value !== "object" || value === null || Object.keys(value).length === 0;
  if (isLeaf || prng.chance(12)) return replaceValue(prng, value);
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
      if (prng.chance(6))
        return [
          [prng.pick(NAMES), inner],
          [name, inner],
        ];
      return mutateEntry(prng, inner).map((changed) => [name, changed]);
    }),
  );
}

const mutateEntry = (prng: Prng, inner: JsonValue): JsonValue[] => (prng.chance(10) ? [] : [mutateJson(prng, inner)]);

/** Tokens that are invalid JSON, or numbers out of range. */
const TOKENS = [
  "1e999999",
  "-",
  "00",
  "+1",
  "NaN",
  "undefined",
  "tru",
  "0x10",
  "1".repeat(400),
  "-1e-999999",
  '"\\u12"',
  '"\\ud800"',
  "'a'",
];

type Mutation = (prng: Prng, text: string) => string;

const insertAt = (prng: Prng, text: string, more: string): string => {
  const place = prng.below(text.length + 1);
  return text.slice(0, place) + more + text.slice(place);
};

const textMutations: readonly Mutation[] = [
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
    const [open, close] = prng.pick<readonly [string, string]>([
      ["[", "]"],
      ['{"a":', "}"],
      ['{"__proto__":', "}"],
      ["[", ""],
    ]);
    return `{"meta":${open.repeat(depth)}${text}${close.repeat(depth)}}`;
  },
];

export const mutateJsonText = (prng: Prng, text: string): string => prng.pick(textMutations)(prng, text);
