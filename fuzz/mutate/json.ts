/** JSON that is nearly right: as a value, and as a text. */
import type { JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import type { Dice } from "../prng.js";

const anything = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;

/** Names that mean something to JavaScript, or to nobody. */
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
  "../..",
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

function replacement(dice: Dice, old: JsonValue): JsonValue {
  switch (dice.below(10)) {
    case 0:
      return null;
    case 1:
      return dice.chance(50);
    case 2:
      return dice.pick(NUMBERS);
    case 3:
      return dice.pick(STRINGS);
    case 4:
      return dice.pick(STRINGS).repeat(dice.between(2, 400));
    case 5:
      return [old];
    case 6:
      return Array.from({ length: dice.between(2, 150) }, () => old);
    case 7:
      return { [dice.pick(NAMES)]: old };
    case 8:
      return nested(dice, old, dice.between(2, 120));
    default:
      return dice.of(anything);
  }
}

function nested(dice: Dice, inner: JsonValue, depth: number): JsonValue {
  let value = inner;
  const inLists = dice.chance(50);
  for (let left = depth; left > 0; left--) value = inLists ? [value] : { values: value };
  return value;
}

/** The value with one place of it changed: each as likely as the others on its level. */
export function mutatedJson(dice: Dice, value: JsonValue): JsonValue {
  const isLeaf = typeof value !== "object" || value === null || Object.keys(value).length === 0;
  if (isLeaf || dice.chance(12)) return replacement(dice, value);
  if (Array.isArray(value)) {
    const at = dice.below(value.length);
    return value.flatMap((inner, index) => (index === at ? changedEntry(dice, inner) : [inner]));
  }
  const entries = Object.entries(value);
  const at = dice.below(entries.length);
  // A key "__proto__" becomes a property as any other here.
  return Object.fromEntries<JsonValue>(
    entries.flatMap(([name, inner], index): [string, JsonValue][] => {
      if (index !== at) return [[name, inner]];
      if (dice.chance(6)) return [[dice.pick(NAMES), inner]];
      if (dice.chance(6))
        return [
          [dice.pick(NAMES), inner],
          [name, inner],
        ];
      return changedEntry(dice, inner).map((changed) => [name, changed]);
    }),
  );
}

const changedEntry = (dice: Dice, inner: JsonValue): JsonValue[] => (dice.chance(10) ? [] : [mutatedJson(dice, inner)]);

/** Texts in place of a number or a word: none of them is JSON, or it is more than a number holds. */
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

type Change = (dice: Dice, text: string) => string;

const at = (dice: Dice, text: string, more: string): string => {
  const place = dice.below(text.length + 1);
  return text.slice(0, place) + more + text.slice(place);
};

const textChanges: readonly Change[] = [
  (dice, text) => text.replace(/:("[^"]*"|[\d.]+|true|false|null)/, `:${dice.pick(TOKENS)}`),
  // The key stands twice.
  (dice, text) => text.replace(/"([^"]+)":/, (key) => `${key}${dice.pick(["1", "{}", "[]", '"a"', "null"])},${key}`),
  (dice, text) =>
    text.replace("{", `{"${dice.pick(["__proto__", String.raw`__pr\u006fto__`, "constructor"])}":{"a":1},`),
  (_dice, text) => text.replaceAll(/[a-f]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`),
  (dice, text) =>
    at(dice, text, dice.pick([",", "{", "]", '"', "\\", "\u0000", "/*a*/", "\ufeff", "\u2028", " ".repeat(500)])),
  (dice, text) => text.slice(0, dice.below(text.length)),
  (dice, text) => text + dice.pick([text, "}", "\u0000", "null", " ", "\n\n"]),
  (dice, text) => {
    const depth = dice.pick([30, 60, 200, 3_000, 30_000]);
    const [open, close] = dice.pick<readonly [string, string]>([
      ["[", "]"],
      ['{"a":', "}"],
      ['{"__proto__":', "}"],
      ["[", ""],
    ]);
    return `{"meta":${open.repeat(depth)}${text}${close.repeat(depth)}}`;
  },
];

/** JSON text with one change that is not of the value. */
export const mutatedText = (dice: Dice, text: string): string => dice.pick(textChanges)(dice, text);
