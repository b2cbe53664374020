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
  texts: (fields) => fields.texts("field"),
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
  ])("%s of %j", (name, value, expected) => {
    expect(reader(name)(fieldsOf(value))).toEqual(expected);
  });
});

describe("a field of the wrong type throws with its path", () => {
  test.each<[string, Given, string]>([
    ["id", missing, "has to be a string, and is missing"],
    ["id", null, "has to be a string, and is missing"],
    ["id", 5, "has to be a string, and is 5"],
    ["id", "", "is empty"],
    ["optionalId", "", "is empty"],
    ["optionalId", 0, "has to be a string, and is 0"],
    ["text", missing, "has to be a string, and is missing"],
    ["text", false, "has to be a string, and is false"],
    ["text", [], "has to be a string, and is a list"],
    ["text", {}, "has to be a string, and is an object"],
    ["optionalBool", "true", 'has to be a boolean, and is "true"'],
    ["optionalBool", 1, "has to be a boolean, and is 1"],
    ["optionalBool", [true], "has to be a boolean, and is a list"],
    ["optionalTime", "soon", 'has to be a time such as 2026-01-31T12:00:00.123456Z, and is "soon"'],
    ["optionalTime", "", 'has to be a time such as 2026-01-31T12:00:00.123456Z, and is ""'],
    [
      "optionalTime",
      "2026-01-05T09:00:00+01:00",
      'has to be a time such as 2026-01-31T12:00:00.123456Z, and is "2026-01-05T09:00:00+01:00"',
    ],
    ["optionalTime", 1_000, "has to be a time such as 2026-01-31T12:00:00.123456Z, and is 1000"],
    ["object", missing, "has to be an object, and is missing"],
    ["object", null, "has to be an object, and is missing"],
    ["object", [], "has to be an object, and is a list"],
    ["object", "a", 'has to be an object, and is "a"'],
    ["optionalObject", "a", 'has to be an object, and is "a"'],
    ["optionalObject", [{}], "has to be an object, and is a list"],
    ["objects", missing, "has to be a list, and is missing"],
    ["objects", null, "has to be a list, and is missing"],
    ["objects", {}, "has to be a list, and is an object"],
    ["objects", [{}, "a"], '[1] has to be an object, and is "a"'],
    ["objects", [[]], "[0] has to be an object, and is a list"],
    ["objects", [{}, {}, null], "[2] has to be an object, and is null"],
    ["texts", missing, "has to be a list, and is missing"],
    ["texts", "a", 'has to be a list, and is "a"'],
    ["texts", ["a", 5], "[1] has to be a string, and is 5"],
    ["texts", [null], "[0] has to be a string, and is null"],
    ["texts", [{}], "[0] has to be a string, and is an object"],
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
      "choiceArguments.a.b[0].c.d has to be a string, and is 5",
    );
    expect(fields.object("a").path("x")).toBe("choiceArguments.a.x");
  });

  test("with a shortened value", () => {
    expect(refusal(() => fieldsOf("x".repeat(500)).optionalBool("field"))).toBe(
      `field has to be a boolean, and is "${"x".repeat(79)}…`,
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
      expect(refusal(() => new JsonReader({}, "").text(name))).toBe(`${name} has to be a string, and is missing`);
      const own = JSON.parse(`{${JSON.stringify(name)}: "own"}`) as JsonObject;
      expect(new JsonReader(own, "").text(name)).toBe("own");
    },
  );
});
