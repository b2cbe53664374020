import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decimalField, decimalText, JsonReader, parseDecimal } from "../../src/registry/sdk/json-reader.js";
import { RegistryError } from "../../src/domain/errors.js";

/** The largest Daml Decimal: 28 digits before the point and ten after it. */
const LARGEST = 10n ** 38n - 1n;

describe("parseDecimal", () => {
  test.each<[string, bigint]>([
    ["0", 0n],
    ["1", 10_000_000_000n],
    ["1.0", 10_000_000_000n],
    ["1.0000000000", 10_000_000_000n],
    ["+1.5", 15_000_000_000n],
    ["-1.5", -15_000_000_000n],
    ["-0.0000000001", -1n],
    ["-0", 0n],
    ["0.0000000001", 1n],
    ["0.1", 1_000_000_000n],
    ["007.50", 75_000_000_000n],
    ["9007199254740993.0000000001", 90_071_992_547_409_930_000_000_001n],
    [`${"9".repeat(28)}.${"9".repeat(10)}`, LARGEST],
    [`-${"9".repeat(28)}.${"9".repeat(10)}`, -LARGEST],
    [`${"0".repeat(27)}1`, 10_000_000_000n],
  ])("reads %s", (text, amount) => {
    expect(parseDecimal(text)).toBe(amount);
  });

  test.each([
    "",
    ".",
    "-",
    "+",
    ".5",
    "5.",
    "1e3",
    "1E3",
    "1,000",
    "1_000",
    " 1",
    "1 ",
    "1\n",
    "1.0\n",
    "--1",
    "+-1",
    "- 1",
    "0x10",
    "NaN",
    "Infinity",
    "1.2.3",
    "٣",
    "１",
    "1n",
    "0.00000000001",
    "1.00000000000",
    "1".repeat(29),
    "0".repeat(29),
  ])("finds that %j is none", (text) => {
    expect(parseDecimal(text)).toBeUndefined();
  });
});

describe("decimalText", () => {
  test.each<[bigint, string]>([
    [0n, "0.0000000000"],
    [1n, "0.0000000001"],
    [-1n, "-0.0000000001"],
    [9_999_999_999n, "0.9999999999"],
    [10_000_000_000n, "1.0000000000"],
    [-10_000_000_000n, "-1.0000000000"],
    [10_000_000_001n, "1.0000000001"],
    [1_234_567_800_000_000n, "123456.7800000000"],
    [90_071_992_547_409_930_000_000_001n, "9007199254740993.0000000001"],
    [LARGEST, `${"9".repeat(28)}.${"9".repeat(10)}`],
    [-LARGEST, `-${"9".repeat(28)}.${"9".repeat(10)}`],
    // A sum may exceed the largest Decimal.
    [LARGEST + 1n, `1${"0".repeat(28)}.${"0".repeat(10)}`],
  ])("writes %s", (amount, text) => {
    expect(decimalText(amount)).toBe(text);
  });
});

const amounts = fc.bigInt({ min: -LARGEST, max: LARGEST });

test("formatted amounts are parsed back", () => {
  fc.assert(fc.property(amounts, (amount) => parseDecimal(decimalText(amount)) === amount));
});

test("parsed texts are formatted with ten decimal places", () => {
  const whole = fc.stringMatching(/^(0|[1-9]\d{0,27})$/);
  const fraction = fc.stringMatching(/^\d{1,10}$/);
  fc.assert(
    fc.property(fc.constantFrom("", "-"), whole, fraction, (sign, integer, decimals) => {
      const isZero = /^0*$/.test(integer + decimals);
      const amount = parseDecimal(`${sign}${integer}.${decimals}`);
      expect(amount).toBeDefined();
      expect(decimalText(amount ?? 0n)).toBe(`${isZero ? "" : sign}${integer}.${decimals.padEnd(10, "0")}`);
    }),
  );
});

const fields = (amount: string | number | null) => new JsonReader({ amount }, "transfer");

describe("units", () => {
  test("reads the decimal in a field", () => {
    expect(decimalField(fields("2.5"), "amount")).toBe(25_000_000_000n);
  });

  test("of a JSON number is its value", () => {
    expect(decimalField(fields(5), "amount")).toBe(50_000_000_000n);
    expect(decimalField(fields(1e-7), "amount")).toBe(1_000n);
  });

  test.each([["1e3"], [""], [1e-11], [null]])("%j throws invalid with the field's path", (amount) => {
    let thrown: unknown;
    try {
      decimalField(fields(amount), "amount");
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(RegistryError);
    expect(thrown).toMatchObject({ reason: "invalid", message: expect.stringContaining("transfer.amount") as string });
  });
});
