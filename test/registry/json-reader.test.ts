import { describe, expect, test } from "vitest";
import { RegistryError } from "../../src/domain/errors.js";
import { JsonReader } from "../../src/registry/sdk/json-reader.js";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";

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

type Reader = (fields: JsonReader) => unknown;
const readers: Readonly<Record<string, Reader>> = {
  id: (fields) => fields.id("field"),
  optionalId: (fields) => fields.optionalId("field"),
  text: (fields) => fields.text("field"),
  optionalBool: (fields) => fields.optionalBool("field"),
  optionalTime: (fields) => fields.optionalTime("field"),
  object: (fields) => fields.object("field").raw("inner"),
  optionalObject: (fields) => fields.optionalObject("field")?.raw("inner"),
  objects: (fields) => fields.objects("field").map((one) => one.raw("inner")),
  optionalObjects: (fields) => fields.optionalObjects("field").map((one) => one.raw("inner")),
  texts: (fields) => fields.texts("field"),
  mapKeys: (fields) => fields.mapKeys("field"),
};
const reader = (name: string): Reader => {
  const found = readers[name];
  if (found === undefined) throw new Error(`there is no reader ${name}`);
  return found;
};

describe("valid fields are read", () => {
  test.each<[string, Given, unknown]>([
    ["id", "a::1220", "a::1220"],
    ["optionalId", "a", "a"],
    ["optionalId", null, undefined],
    ["optionalId", missing, undefined],
    ["text", "a", "a"],
    ["text", "", ""],
    ["optionalBool", true, true],
    ["optionalBool", false, false],
    ["optionalBool", null, undefined],
    ["optionalBool", missing, undefined],
    ["optionalTime", "1970-01-01T00:00:01Z", 1_000_000],
    ["optionalTime", "2026-01-05T09:00:00.123456Z", 1_767_603_600_123_456],
    ["optionalTime", null, undefined],
    ["optionalTime", missing, undefined],
    ["object", { inner: 1 }, 1],
    ["object", {}, undefined],
    ["optionalObject", { inner: 1 }, 1],
    ["optionalObject", null, undefined],
    ["optionalObject", missing, undefined],
    ["objects", [], []],
    ["objects", [{ inner: 1 }, {}, { inner: 2 }], [1, undefined, 2]],
    ["texts", [], []],
    ["texts", ["a", "", "b"], ["a", "", "b"]],
    ["optionalObjects", [{ inner: 1 }, {}], [1, undefined]],
    ["optionalObjects", [], []],
    ["optionalObjects", null, []],
    ["optionalObjects", missing, []],
    ["mapKeys", { USD: "1.0", EUR: "2.0" }, ["USD", "EUR"]],
    [
      "mapKeys",
      [
        ["USD", "1.0"],
        ["EUR", "2.0"],
      ],
      ["USD", "EUR"],
    ],
    ["mapKeys", {}, []],
    ["mapKeys", [], []],
    ["mapKeys", null, []],
    ["mapKeys", missing, []],
  ])("%s of %j", (name, value, expected) => {
    expect(reader(name)(fieldsOf(value))).toEqual(expected);
  });
});

describe("a field of the wrong type throws with its path", () => {
  test.each<[string, Given, string]>([
    ["id", missing, "must be a string, but is missing"],
    ["id", null, "must be a string, but is missing"],
    ["id", 5, "must be a string, but is 5"],
    ["id", "", "is empty"],
    ["optionalId", "", "is empty"],
    ["optionalId", 0, "must be a string, but is 0"],
    ["text", missing, "must be a string, but is missing"],
    ["text", false, "must be a string, but is false"],
    ["text", [], "must be a string, but is a list"],
    ["text", {}, "must be a string, but is an object"],
    ["optionalBool", "true", 'must be a boolean, but is "true"'],
    ["optionalBool", 1, "must be a boolean, but is 1"],
    ["optionalBool", [true], "must be a boolean, but is a list"],
    ["optionalTime", "soon", 'must be a time such as 2026-01-31T12:00:00.123456Z, but is "soon"'],
    ["optionalTime", "", 'must be a time such as 2026-01-31T12:00:00.123456Z, but is ""'],
    [
      "optionalTime",
      "2026-01-05T09:00:00+01:00",
      'must be a time such as 2026-01-31T12:00:00.123456Z, but is "2026-01-05T09:00:00+01:00"',
    ],
    ["optionalTime", 1_000, "must be a time such as 2026-01-31T12:00:00.123456Z, but is 1000"],
    ["object", missing, "must be an object, but is missing"],
    ["object", null, "must be an object, but is missing"],
    ["object", [], "must be an object, but is a list"],
    ["object", "a", 'must be an object, but is "a"'],
    ["optionalObject", "a", 'must be an object, but is "a"'],
    ["optionalObject", [{}], "must be an object, but is a list"],
    ["objects", missing, "must be a list, but is missing"],
    ["objects", null, "must be a list, but is missing"],
    ["objects", {}, "must be a list, but is an object"],
    ["objects", [{}, "a"], '[1] must be an object, but is "a"'],
    ["objects", [[]], "[0] must be an object, but is a list"],
    ["objects", [{}, {}, null], "[2] must be an object, but is null"],
    ["texts", missing, "must be a list, but is missing"],
    ["texts", "a", 'must be a list, but is "a"'],
    ["texts", ["a", 5], "[1] must be a string, but is 5"],
    ["texts", [null], "[0] must be a string, but is null"],
    ["texts", [{}], "[0] must be a string, but is an object"],
    ["optionalObjects", "a", 'must be a list, but is "a"'],
    ["optionalObjects", [null], "[0] must be an object, but is null"],
    ["mapKeys", "USD", 'must be a map, but is "USD"'],
    ["mapKeys", 5, "must be a map, but is 5"],
    ["mapKeys", [["USD", "1.0"], "EUR"], '[1] must be a pair of a string and a value, but is "EUR"'],
    ["mapKeys", [[5, "1.0"]], "[0] must be a pair of a string and a value, but is a list"],
    ["mapKeys", [[]], "[0] must be a pair of a string and a value, but is a list"],
    ["mapKeys", [{ USD: "1.0" }], "[0] must be a pair of a string and a value, but is an object"],
  ])("%s of %j", (name, value, reason) => {
    const separator = reason.startsWith("[") ? "" : " ";
    expect(refusal(() => reader(name)(fieldsOf(value)))).toBe(`field${separator}${reason}`);
    expect(refusal(() => reader(name)(fieldsOf(value, "choiceArguments")))).toBe(
      `choiceArguments.field${separator}${reason}`,
    );
  });

  test("through objects and lists", () => {
    const fields = new JsonReader({ a: { b: [{ c: { d: 5 } }] } }, "choiceArguments");
    expect(refusal(() => fields.object("a").objects("b")[0]?.object("c").id("d"))).toBe(
      "choiceArguments.a.b[0].c.d must be a string, but is 5",
    );
    expect(fields.object("a").path("x")).toBe("choiceArguments.a.x");
  });

  test("with a shortened value", () => {
    expect(refusal(() => fieldsOf("x".repeat(500)).optionalBool("field"))).toBe(
      `field must be a boolean, but is "${"x".repeat(79)}…`,
    );
  });
});

describe("raw", () => {
  test.each<[Given, unknown]>([
    [missing, undefined],
    [null, undefined],
    [0, 0],
    ["", ""],
    [false, false],
  ])("of %j", (value, expected) => {
    expect(fieldsOf(value).raw("field")).toBe(expected);
  });

  test.each(["toString", "constructor", "__proto__", "hasOwnProperty"])(
    "does not find what every object has: %s",
    (name) => {
      expect(new JsonReader({}, "").raw(name)).toBeUndefined();
      expect(refusal(() => new JsonReader({}, "").text(name))).toBe(`${name} must be a string, but is missing`);
      const own = JSON.parse(`{${JSON.stringify(name)}: "own"}`) as JsonObject;
      expect(new JsonReader(own, "").text(name)).toBe("own");
    },
  );
});
