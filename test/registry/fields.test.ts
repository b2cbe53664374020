/** Fields of requests and contracts: what is read, and how a field of another form is refused, with its path. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { decimalText, parseDecimal } from "../../src/domain/decimal.js";
import { RegistryError } from "../../src/domain/errors.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { allocationArguments, targetSynchronizerOf } from "../../src/registry/factory-arguments.js";
import { decimal, mapKeys, nonEmpty, readFields, time } from "../../src/registry/fields.js";

const PAIR = ["USD", "1.0"];
const missing = Symbol("missing");
type Given = JsonValue | typeof missing;

const forms = {
  id: nonEmpty,
  optionalId: nonEmpty.nullish(),
  text: z.string(),
  bool: z.boolean(),
  side: z.enum(["left", "right"]),
  time: time.nullish(),
  object: z.object({ inner: z.number() }),
  objects: z.array(z.object({ inner: z.object({ at: nonEmpty }) })),
  texts: z.array(z.string()),
  mapKeys,
  decimal,
};
type Form = keyof typeof forms;

const readField = (name: Form, value: Given, path: string): unknown =>
  readFields(z.object({ field: forms[name] }), value === missing ? {} : { field: value }, path).field;

/** The message of the error that a read throws. */
function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof RegistryError && error.reason === "invalid") return error.message;
    throw error;
  }
  throw new Error("it was not refused");
}

test.each<[Form, given: Given[], read: unknown[]]>([
  ["id", ["a::1220"], ["a::1220"]],
  ["optionalId", ["a", null, missing], ["a", null, undefined]],
  ["text", ["a", ""], ["a", ""]],
  ["time", ["1970-01-01T00:00:01Z", "2026-01-05T09:00:00.123456Z", null], [1_000_000, 1_767_603_600_123_456, null]],
  ["mapKeys", [{ USD: "1.0", EUR: "2.0" }, {}, [], null, missing], [["USD", "EUR"], [], [], [], []]],
  ["mapKeys", [[PAIR, PAIR]], [["USD", "USD"]]],
  ["decimal", ["2.5", 5, 1e-7], [25_000_000_000n, 50_000_000_000n, 1_000n]],
])("%s reads %j", (name, given, expected) => {
  expect(given.map((value) => readField(name, value, ""))).toEqual(expected);
});

describe("a field of the wrong type is refused with its path:", () => {
  const TIME = "must be a time such as 2026-01-31T12:00:00.123456Z, but is";
  test.each<[Form, Given, string]>([
    ["id", missing, " must be a string, but is missing"],
    ["id", null, " must be a string, but is missing"],
    ["id", 5, " must be a string, but is 5"],
    ["id", "", " is empty"],
    ["optionalId", "", " is empty"],
    ["optionalId", 0, " must be a string, but is 0"],
    ["text", [], " must be a string, but is a list"],
    ["text", {}, " must be a string, but is an object"],
    ["bool", "true", ' must be a boolean, but is "true"'],
    ["bool", "x".repeat(500), ` must be a boolean, but is "${"x".repeat(79)}…`],
    ["side", "up", ' must be one of left, right, but is "up"'],
    ["side", missing, " must be one of left, right, but is missing"],
    ["time", "soon", ` ${TIME} "soon"`],
    ["time", "", ` ${TIME} ""`],
    ["time", "2026-01-05T09:00:00+01:00", ` ${TIME} "2026-01-05T09:00:00+01:00"`],
    ["object", missing, " must be an object, but is missing"],
    ["object", [], " must be an object, but is a list"],
    ["object", {}, ".inner must be a number, but is missing"],
    ["objects", {}, " must be a list, but is an object"],
    ["objects", [{ inner: { at: "a" } }, "a"], '[1] must be an object, but is "a"'],
    ["objects", [{ inner: { at: "a" } }, { inner: { at: 5 } }], "[1].inner.at must be a string, but is 5"],
    ["texts", missing, " must be a list, but is missing"],
    ["texts", ["a", 5], "[1] must be a string, but is 5"],
    ["mapKeys", "USD", ' must be a map, but is "USD"'],
    ["mapKeys", [["USD", "1.0"], "EUR"], '[1] must be a list, but is "EUR"'],
    ["mapKeys", [[5, "1.0"]], "[0][0] must be a string, but is 5"],
    ["decimal", "1e3", ' must be a decimal such as 1.0000000000, but is "1e3"'],
    ["decimal", 1e-11, ' must be a decimal such as 1.0000000000, but is "0.00000000001"'],
    ["decimal", null, " must be a string, but is missing"],
  ])("%s of %j", (name, value, reason) => {
    expect(refusal(() => readField(name, value, ""))).toBe(`field${reason}`);
    expect(refusal(() => readField(name, value, "choiceArguments"))).toBe(`choiceArguments.field${reason}`);
  });
});

describe("a Daml Decimal", () => {
  /** The largest: 28 digits before the point and ten after it. */
  const LARGEST = 10n ** 38n - 1n;
  const NINES = `${"9".repeat(28)}.${"9".repeat(10)}`;

  test.each<[string, bigint]>([
    ["1", 10_000_000_000n],
    ["+1.5", 15_000_000_000n],
    ["-0", 0n],
    ["007.50", 75_000_000_000n],
    ["9007199254740993.0000000001", 90_071_992_547_409_930_000_000_001n],
    [NINES, LARGEST],
    [`${"0".repeat(27)}1`, 10_000_000_000n],
  ])("is read from %s", (text, amount) => {
    expect(parseDecimal(text)).toBe(amount);
  });

  const malformed = ["", ".", "-", "+", ".5", "5.", "1e3", "1E3", "1,000", "1_000", " 1", "1 ", "1\n", "1.0\n", "--1"];
  const others = ["+-1", "- 1", "0x10", "NaN", "Infinity", "1.2.3", "٣", "１", "1n"];
  const tooLong = ["0.00000000001", "1.00000000000", "1".repeat(29), "0".repeat(29)];
  test.each([...malformed, ...others, ...tooLong])("is not %j", (text) => {
    expect(parseDecimal(text)).toBeUndefined();
  });

  test.each<[bigint, string]>([
    [-1n, "-0.0000000001"],
    [-LARGEST, `-${NINES}`],
    // A sum may exceed the largest Decimal.
    [LARGEST + 1n, `1${"0".repeat(28)}.${"0".repeat(10)}`],
  ])("is written: %s", (amount, text) => {
    expect(decimalText(amount)).toBe(text);
  });

  test("is read as it was written, and written as it was read, with ten decimal places", () => {
    const amounts = fc.bigInt({ min: -LARGEST, max: LARGEST });
    fc.assert(fc.property(amounts, (amount) => parseDecimal(decimalText(amount)) === amount));
    const [whole, fraction] = [fc.stringMatching(/^(0|[1-9]\d{0,27})$/), fc.stringMatching(/^\d{1,10}$/)];
    fc.assert(
      fc.property(fc.constantFrom("", "-"), whole, fraction, (sign, integer, decimals) => {
        const isZero = /^0*$/.test(integer + decimals);
        const written = `${isZero ? "" : sign}${integer}.${decimals.padEnd(10, "0")}`;
        expect(decimalText(parseDecimal(`${sign}${integer}.${decimals}`) ?? -1n)).toBe(written);
      }),
    );
  });
});

describe("the arguments of a factory", () => {
  const leg = { sender: "alice", instrumentId: { admin: "admin", id: "USD" } };
  const query = (allocation: JsonObject, more: JsonObject = {}) => ({
    registrar: "admin",
    choiceArguments: { allocation: { transferLeg: leg, ...allocation }, ...more },
  });

  test.each<[JsonObject, string[]]>([
    [{ settlement: { executor: "eve" } }, ["eve"]],
    [{ settlement: { executors: ["eve", "frank"] } }, ["eve", "frank"]],
    [{ settlement: {} }, []],
    [{}, []],
  ])("have the executors of %j", (allocation, executors) => {
    expect(allocationArguments(query(allocation)).executors()).toEqual(executors);
  });

  test("name no holding and no synchronizer by an empty text", () => {
    const given = query({}, { inputHoldingCids: ["", "holding", 5], _targetSynchronizerId: "" });
    expect(allocationArguments(given)).toMatchObject({ inputHoldings: ["holding"], targetSynchronizer: undefined });
    expect(targetSynchronizerOf(given)).toBeUndefined();
  });
});
