/** Fields of requests and contracts: what is read, and how a field of another form is refused, with its path. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RegistryError } from "../../src/domain/errors.js";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import {
  accountIn,
  accountOf,
  decimalField,
  decimalText,
  JsonReader,
  parseDecimal,
  partyOf,
} from "../../src/registry/sdk/json-reader.js";

const PAIR = ["USD", "1.0"];
const missing = Symbol("missing");
type Given = JsonValue | typeof missing;
const fieldsOf = (value: Given, path = ""): JsonReader =>
  new JsonReader(value === missing ? {} : { field: value }, path);

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

const readers = {
  id: (fields: JsonReader) => fields.id("field"),
  optionalId: (fields: JsonReader) => fields.optionalId("field"),
  text: (fields: JsonReader) => fields.text("field"),
  optionalBool: (fields: JsonReader) => fields.optionalBool("field"),
  optionalTime: (fields: JsonReader) => fields.optionalTime("field"),
  object: (fields: JsonReader) => fields.object("field").raw("inner"),
  optionalObject: (fields: JsonReader) => fields.optionalObject("field")?.raw("inner"),
  objects: (fields: JsonReader) => fields.objects("field").map((one) => one.raw("inner")),
  optionalObjects: (fields: JsonReader) => fields.optionalObjects("field").map((one) => one.raw("inner")),
  texts: (fields: JsonReader) => fields.texts("field"),
  mapKeys: (fields: JsonReader) => fields.mapKeys("field"),
  decimal: (fields: JsonReader) => decimalField(fields, "field"),
  raw: (fields: JsonReader) => fields.raw("field"),
};
type Reader = keyof typeof readers;

test.each<[Reader, given: Given[], read: unknown[]]>([
  ["id", ["a::1220"], ["a::1220"]],
  ["optionalId", ["a", null, missing], ["a", undefined, undefined]],
  ["text", ["a", ""], ["a", ""]],
  ["optionalBool", [true, false, null, missing], [true, false, undefined, undefined]],
  ["optionalTime", ["1970-01-01T00:00:01Z", null, missing], [1_000_000, undefined, undefined]],
  ["optionalTime", ["2026-01-05T09:00:00.123456Z"], [1_767_603_600_123_456]],
  ["object", [{ inner: 1 }, {}], [1, undefined]],
  ["optionalObject", [{ inner: 1 }, null, missing], [1, undefined, undefined]],
  ["objects", [[], [{ inner: 1 }, {}, { inner: 2 }]], [[], [1, undefined, 2]]],
  ["optionalObjects", [[{ inner: 1 }, {}], [], null, missing], [[1, undefined], [], [], []]],
  ["texts", [[], ["a", "", "b"]], [[], ["a", "", "b"]]],
  ["mapKeys", [{ USD: "1.0", EUR: "2.0" }, {}, [], null, missing], [["USD", "EUR"], [], [], [], []]],
  ["mapKeys", [[PAIR, PAIR]], [["USD", "USD"]]],
  ["decimal", ["2.5", 5, 1e-7], [25_000_000_000n, 50_000_000_000n, 1_000n]],
  ["raw", [missing, null, 0, "", false], [undefined, undefined, 0, "", false]],
])("%s reads %j", (name, given, expected) => {
  expect(given.map((value) => readers[name](fieldsOf(value)))).toEqual(expected);
});

describe("a field of the wrong type is refused with its path:", () => {
  const TIME = "must be a time such as 2026-01-31T12:00:00.123456Z, but is";
  const NO_PAIR = "must be a pair of a string and a value, but is";
  test.each<[Reader, Given, string]>([
    ["id", missing, " must be a string, but is missing"],
    ["id", null, " must be a string, but is missing"],
    ["id", 5, " must be a string, but is 5"],
    ["id", "", " is empty"],
    ["optionalId", "", " is empty"],
    ["optionalId", 0, " must be a string, but is 0"],
    ["text", missing, " must be a string, but is missing"],
    ["text", false, " must be a string, but is false"],
    ["text", [], " must be a string, but is a list"],
    ["text", {}, " must be a string, but is an object"],
    ["optionalBool", "true", ' must be a boolean, but is "true"'],
    ["optionalBool", 1, " must be a boolean, but is 1"],
    ["optionalBool", [true], " must be a boolean, but is a list"],
    ["optionalBool", "x".repeat(500), ` must be a boolean, but is "${"x".repeat(79)}…`],
    ["optionalTime", "soon", ` ${TIME} "soon"`],
    ["optionalTime", "", ` ${TIME} ""`],
    ["optionalTime", "2026-01-05T09:00:00+01:00", ` ${TIME} "2026-01-05T09:00:00+01:00"`],
    ["optionalTime", 1_000, ` ${TIME} 1000`],
    ["object", missing, " must be an object, but is missing"],
    ["object", null, " must be an object, but is missing"],
    ["object", [], " must be an object, but is a list"],
    ["object", "a", ' must be an object, but is "a"'],
    ["optionalObject", "a", ' must be an object, but is "a"'],
    ["optionalObject", [{}], " must be an object, but is a list"],
    ["objects", missing, " must be a list, but is missing"],
    ["objects", null, " must be a list, but is missing"],
    ["objects", {}, " must be a list, but is an object"],
    ["objects", [{}, "a"], '[1] must be an object, but is "a"'],
    ["objects", [[]], "[0] must be an object, but is a list"],
    ["objects", [{}, {}, null], "[2] must be an object, but is null"],
    ["texts", missing, " must be a list, but is missing"],
    ["texts", "a", ' must be a list, but is "a"'],
    ["texts", ["a", 5], "[1] must be a string, but is 5"],
    ["texts", [null], "[0] must be a string, but is null"],
    ["texts", [{}], "[0] must be a string, but is an object"],
    ["optionalObjects", "a", ' must be a list, but is "a"'],
    ["optionalObjects", [null], "[0] must be an object, but is null"],
    ["mapKeys", "USD", ' must be a map, but is "USD"'],
    ["mapKeys", 5, " must be a map, but is 5"],
    ["mapKeys", [["USD", "1.0"], "EUR"], `[1] ${NO_PAIR} "EUR"`],
    ["mapKeys", [[5, "1.0"]], `[0] ${NO_PAIR} a list`],
    ["mapKeys", [[]], `[0] ${NO_PAIR} a list`],
    ["mapKeys", [{ USD: "1.0" }], `[0] ${NO_PAIR} an object`],
  ])("%s of %j", (name, value, reason) => {
    expect(refusal(() => readers[name](fieldsOf(value)))).toBe(`field${reason}`);
    expect(refusal(() => readers[name](fieldsOf(value, "choiceArguments")))).toBe(`choiceArguments.field${reason}`);
  });

  test.each(["1e3", "", 1e-11, null])("decimal of %j", (value) => {
    expect(refusal(() => readers.decimal(fieldsOf(value, "transfer")))).toContain("transfer.field");
  });

  test("through objects and lists", () => {
    const fields = new JsonReader({ a: { b: [{ c: { d: 5 } }] } }, "choiceArguments");
    const read = () => fields.object("a").objects("b")[0]?.object("c").id("d");
    expect(refusal(read)).toBe("choiceArguments.a.b[0].c.d must be a string, but is 5");
    expect(fields.object("a").path("x")).toBe("choiceArguments.a.x");
  });
});

test.each(["toString", "constructor", "__proto__", "hasOwnProperty"])(
  "what every object has is no field: %s",
  (name) => {
    expect(new JsonReader({}, "").raw(name)).toBeUndefined();
    expect(refusal(() => new JsonReader({}, "").text(name))).toBe(`${name} must be a string, but is missing`);
    const own = JSON.parse(`{${JSON.stringify(name)}: "own"}`) as JsonObject;
    expect(new JsonReader(own, "").text(name)).toBe("own");
  },
);

describe("a Daml Decimal", () => {
  /** The largest: 28 digits before the point and ten after it. */
  const LARGEST = 10n ** 38n - 1n;
  const NINES = `${"9".repeat(28)}.${"9".repeat(10)}`;

  test.each<[string, bigint]>([
    ["0", 0n],
    ["1", 10_000_000_000n],
    ["1.0000000000", 10_000_000_000n],
    ["+1.5", 15_000_000_000n],
    ["-1.5", -15_000_000_000n],
    ["-0.0000000001", -1n],
    ["-0", 0n],
    ["0.1", 1_000_000_000n],
    ["007.50", 75_000_000_000n],
    ["9007199254740993.0000000001", 90_071_992_547_409_930_000_000_001n],
    [NINES, LARGEST],
    [`-${NINES}`, -LARGEST],
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
    [0n, "0.0000000000"],
    [-1n, "-0.0000000001"],
    [9_999_999_999n, "0.9999999999"],
    [-10_000_000_000n, "-1.0000000000"],
    [1_234_567_800_000_000n, "123456.7800000000"],
    [90_071_992_547_409_930_000_000_001n, "9007199254740993.0000000001"],
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

/** Of version 2 of the token standard. */
describe("an account", () => {
  const ADMIN = "registrar::1220";
  const read = (account: JsonObject) =>
    accountOf(new JsonReader({ sender: account }, "transfer").object("sender"), ADMIN);
  const special = (id: string) => ({ owner: undefined, provider: undefined, id, party: ADMIN, isSpecial: true });

  test.each<[string, JsonObject, string]>([
    ["its owner", { owner: "alice", provider: null, id: "" }, "alice"],
    ["its owner, if it has a provider too", { owner: "alice", provider: "bank", id: "1" }, "alice"],
    ["its provider, if the owner is null", { owner: null, provider: "bank", id: "1" }, "bank"],
    ["its provider, if the owner is absent", { provider: "bank" }, "bank"],
    ["its owner, even with a special id", { owner: "alice", id: "cip-112/mint" }, "alice"],
    ["its provider, even with a special id", { provider: "bank", id: "cip-112/burn" }, "bank"],
  ])("has as its party %s", (_, account, party) => {
    expect(read(account)).toMatchObject({ party, isSpecial: false });
  });

  test.each(["cip-112/mint", "cip-112/burn"])("without owner and provider is special by the id %s", (id) => {
    expect(read({ owner: null, provider: null, id })).toEqual(special(id));
    expect(read({ id })).toEqual(special(id));
  });

  test.each([{ id: "" }, {}, { owner: null, id: "savings" }, { id: "cip-112/transfer" }, { id: "CIP-112/mint" }])(
    "without owner and provider is refused: %j",
    (account) => {
      const message = refusal(() => read(account));
      expect(message).toContain("transfer.sender.owner must name an owner or a provider");
      expect(message).toContain("cip-112/mint or cip-112/burn");
      expect(message).toContain(JSON.stringify("id" in account ? account.id : ""));
    },
  );

  const readIn = (transfer: JsonObject) => accountIn(new JsonReader(transfer, "transfer"), "sender", ADMIN);
  const withMeta = (sender: string, values: JsonObject): JsonObject => ({ sender, meta: { values } });
  const NO_OWNER = `cip-112_no-owner::1220${"0".repeat(60)}abcd`;
  const [id, provider, receiver] = ["cip-112/sender.id", "cip-112/sender.provider", "cip-112/receiver.id"] as const;
  const alice = { owner: "alice", provider: undefined, id: "", party: "alice", isSpecial: false };
  const ofBank = { owner: undefined, provider: "bank", party: "bank", isSpecial: false };

  test.each<[string, JsonObject, object]>([
    ["a party", { sender: "alice" }, alice],
    ["a party with an empty id", withMeta("alice", { [id]: "" }), alice],
    [
      "a party with an id",
      withMeta("alice", { [id]: "savings", [provider]: "bank" }),
      { ...alice, id: "savings", provider: "bank" },
    ],
    ["a party with a special id", withMeta("alice", { [id]: "cip-112/mint" }), { ...alice, id: "cip-112/mint" }],
    ["a party, the other side has an id", withMeta("alice", { [receiver]: "savings" }), alice],
    ["an account", { sender: { owner: "alice", provider: "bank", id: "1" } }, { ...alice, provider: "bank", id: "1" }],
    ["a special account", { sender: { id: "cip-112/burn" } }, special("cip-112/burn")],
    ["no owner, without meta", { sender: NO_OWNER }, special("cip-112/mint")],
    ["no owner, with a meta without values", { sender: NO_OWNER, meta: {} }, special("cip-112/mint")],
    ["no owner, the other side has an id", withMeta(NO_OWNER, { [receiver]: "savings" }), special("cip-112/mint")],
    ["no owner, with the id to mint", withMeta(NO_OWNER, { [id]: "cip-112/mint" }), special("cip-112/mint")],
    ["no owner, with the id to burn", withMeta(NO_OWNER, { [id]: "cip-112/burn" }), special("cip-112/burn")],
    ["no owner but a provider", withMeta(NO_OWNER, { [id]: "7", [provider]: "bank" }), { ...ofBank, id: "7" }],
    ["no owner but a provider without id", withMeta(NO_OWNER, { [provider]: "bank" }), { ...ofBank, id: "" }],
  ])("of a field of version 1 or 2: %s", (_what, transfer, expected) => {
    expect(readIn(transfer)).toEqual(expected);
  });

  test.each<[string, JsonObject, string[]]>([
    ["another id without owner", withMeta(NO_OWNER, { [id]: "savings" }), [`transfer.meta.values.${id}`, '"savings"']],
    ["missing", {}, ["transfer.sender"]],
    ["empty", { sender: "" }, ["transfer.sender"]],
    ["a number", { sender: 5 }, ["transfer.sender"]],
  ])("of such a field is refused: %s", (_what, transfer, parts) => {
    for (const part of parts) expect(refusal(() => readIn(transfer))).toContain(part);
  });

  test("gives its party to the field", () => {
    const transfer = new JsonReader({ sender: { owner: "alice" }, receiver: { id: "cip-112/burn" } }, "transfer");
    expect(partyOf(transfer, "sender", ADMIN)).toBe("alice");
    expect(partyOf(transfer, "receiver", ADMIN)).toBe(ADMIN);
  });
});
