import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Decoder } from "../../../src/ledger/decode.js";
import { formatProblems as describeProblems, MAX_PROBLEMS, parseSnapshot } from "../../../src/ledger/file/snapshot.js";
import { templates } from "../../../src/registry/utility/templates.js";
import type { JsonObject } from "../../../src/domain/json.js";
import { element, type Options, payload } from "../../fixtures/elements.js";

const decoder = new Decoder(templates);
const read = (file: string) => parseSnapshot(file, decoder);
const lines = (...elements: readonly (JsonObject | string)[]): string =>
  elements.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\n`).join("");
const list = (...elements: readonly (JsonObject | string)[]): string =>
  `[\n${elements.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join(",\n")}\n]\n`;

const factory = (id: string, options?: Options) => element("AllocationFactory", id, payload.service(), options);
const locked = (id: string) => element("Holding", id, payload.lockedHolding("alice", "USD"));
const free = (id: string) => element("Holding", id, payload.lockedHolding("alice", "USD", { lock: null }));
const unknown = (id: string): JsonObject =>
  JSON.parse(JSON.stringify(factory(id)).replaceAll(":AllocationFactory", ":SomethingElse")) as JsonObject;

/** The element with another offset of its event. */
const at = (offset: number, given: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(given).replace('"offset":10', `"offset":${offset}`)) as JsonObject;

const idsOf = (file: string): string[] => read(file).contracts.map(({ contractId }) => contractId);

describe("a valid file", () => {
  test("returns its contracts, its offset, and the number of ignored elements", () => {
    const elements = [
      at(11, factory("a")),
      free("b"),
      at(30, locked("c")),
      unknown("d"),
      { workflowId: "", contractEntry: { JsEmpty: {} } },
      at(20, factory("e")),
    ];
    for (const file of [lines(...elements), list(...elements), JSON.stringify(elements)]) {
      const { contracts, offset, ignored, problems } = read(file);
      expect(contracts.map(({ contractId }) => contractId)).toEqual(["a", "c", "e"]);
      expect({ offset, ignored, problems }).toEqual({ offset: 30, ignored: 3, problems: [] });
    }
  });

  test.each([
    ["is an empty array", "[]"],
    ["is an empty array with white space", " [\n] \n"],
  ])("that %s has no contracts", (_what, file) => {
    expect(read(file)).toEqual({ contracts: [], offset: 0, ignored: 0, problems: [] });
  });

  test("may have CRLF line ends, a byte order mark and blank lines", () => {
    expect(idsOf(`\ufeff\r\n${JSON.stringify(factory("a"))}\r\n\r\n${JSON.stringify(factory("b"))}\r\n`)).toEqual([
      "a",
      "b",
    ]);
  });

  test("may be pretty-printed", () => {
    expect(idsOf(JSON.stringify([factory("a"), free("x"), locked("b")], undefined, 2))).toEqual(["a", "b"]);
  });

  test("may hold any string in its payloads", () => {
    const text = 'a "quoted" ]},{[ \\" \\ \n \u2028';
    const given = element("AllocationFactory", "a", payload.service({ note: text }));
    for (const file of [lines(given), list(given), JSON.stringify([given], undefined, 2)]) {
      expect(read(file)).toMatchObject({
        problems: [],
        contracts: [{ payload: JSON.stringify(payload.service({ note: text })) }],
      });
    }
  });

  test("has the highest offset, even of an ignored element", () => {
    expect(read(lines(at(11, factory("a")), at(40, free("b")), at(50, unknown("c")))).offset).toBe(50);
  });
});

describe("several elements for one contract", () => {
  test.each<[string, JsonObject[], string | undefined, number]>([
    [
      "left and arrived",
      [factory("a", { moving: "unassigned" }), factory("a", { reassignmentCounter: 1, synchronizerId: "sync-B" })],
      "sync-B",
      1,
    ],
    ["active and arriving elsewhere", [factory("a"), factory("a", { moving: "arriving" })], undefined, 1],
    ["left and arriving", [factory("a", { moving: "unassigned" }), factory("a", { moving: "arriving" })], undefined, 1],
    [
      "moved there and back",
      [
        factory("a"),
        factory("a", { moving: "unassigned" }),
        factory("a", { reassignmentCounter: 1, synchronizerId: "sync-B" }),
        factory("a", { moving: "unassigned", reassignmentCounter: 2 }),
        factory("a", { reassignmentCounter: 2, synchronizerId: "sync-A" }),
      ],
      "sync-A",
      2,
    ],
  ])("give one contract in any order: %s", (_what, elements, synchronizerId, reassignmentCounter) => {
    fc.assert(
      fc.property(fc.shuffledSubarray(elements, { minLength: elements.length }), (shuffled) => {
        expect(read(lines(...shuffled))).toMatchObject({
          contracts: [{ contractId: "a", synchronizerId, reassignmentCounter }],
          problems: [],
        });
        expect(read(lines(...shuffled)).contracts).toHaveLength(1);
      }),
    );
  });

  test("are a problem if they have the same state, reported with both lines", () => {
    const elements = [factory("a"), locked("b"), factory("a")];
    expect(read(lines(...elements)).problems).toEqual([{ line: 3, reason: "contract a is already on line 1" }]);
    expect(read(list(...elements)).problems).toEqual([{ line: 4, reason: "contract a is already on line 2" }]);
  });

  test("are a problem if they are on two synchronizers at once", () => {
    const { problems } = read(lines(factory("a"), factory("a", { synchronizerId: "sync-B" })));
    expect(problems).toEqual([{ line: 2, reason: "contract a is already on line 1" }]);
  });

  test("are a problem that names the line of the conflicting element", () => {
    const later = factory("a", { reassignmentCounter: 1 });
    expect(read(lines(later, factory("a"), later)).problems).toEqual([
      { line: 3, reason: "contract a is already on line 1" },
    ]);
  });
});

describe("an invalid file", () => {
  const noBlob = (id: string): string => JSON.stringify(factory(id)).replace(/"createdEventBlob":"[^"]*"/, '"x":1');
  const blobReason =
    "createdEventBlob must be a string, but is missing: request it from the participant with includeCreatedEventBlob";

  test("is reported line by line in both forms, and valid elements are kept", () => {
    const elements = [factory("a"), "{", factory("b"), "5", noBlob("c"), factory("d")];
    const found = read(lines(...elements));
    expect(found.contracts.map(({ contractId }) => contractId)).toEqual(["a", "b", "d"]);
    expect(found.problems).toEqual([
      { line: 2, reason: expect.stringMatching(/^not JSON: /) as string },
      { line: 4, reason: "the element must be an object, but is not one" },
      { line: 5, reason: blobReason },
    ]);
    const inArray = read(list(...elements.filter((one) => one !== "{")));
    expect(inArray.problems).toEqual([
      { line: 4, reason: "the element must be an object, but is not one" },
      { line: 5, reason: blobReason },
    ]);
  });

  test("reports the first line of a broken element in a pretty-printed array", () => {
    const file = JSON.stringify([factory("a"), { contractEntry: {} }, factory("b")], undefined, 2);
    const line = 1 + file.split("\n").findIndex((one) => one.includes('"contractEntry": {}'));
    expect(read(file).problems).toEqual([
      { line: line - 1, reason: expect.stringMatching(/^contractEntry/) as string },
    ]);
  });

  test("that lacks a comma is reported with the line of the element before", () => {
    const file = `[\n${JSON.stringify(factory("a"))},\n${JSON.stringify(factory("b"))}\n${JSON.stringify(factory("c"))}\n]`;
    expect(read(file).problems).toEqual([{ line: 3, reason: expect.stringMatching(/^not JSON: /) as string }]);
  });

  test("that has two elements on one line is reported with that line", () => {
    const file = `${JSON.stringify(factory("a"))}\n${JSON.stringify(factory("b"))}${JSON.stringify(factory("c"))}\n`;
    expect(read(file).problems).toEqual([{ line: 2, reason: expect.stringMatching(/^not JSON: /) as string }]);
  });

  test.each<[string, string, number, string]>([
    ["has text after the end", `${list(factory("a")).trim()} x`, 3, "there is text after the end of the array"],
    ["misses an element", list(factory("a"), "", factory("b")), 3, "an element is missing before or after a comma"],
    ["has a comma after the last", list(factory("a")).replace("\n]", ",]"), 2, "an element is missing"],
    ["is cut off", list(factory("a"), factory("b")).slice(0, -40), 3, "the array is not closed"],
  ])("that %s is reported with its line", (_what, file, line, reason) => {
    expect(read(file).problems).toEqual([{ line, reason: expect.stringContaining(reason) as string }]);
  });

  test("that is truncated within a line is reported with that line", () => {
    expect(read(lines(factory("a"), factory("b")).slice(0, -40)).problems).toMatchObject([{ line: 2 }]);
  });

  test(`with many problems reports the first ${MAX_PROBLEMS}`, () => {
    const wrong = Array.from({ length: MAX_PROBLEMS * 3 }, (_, index) => (index === 3 ? factory("a") : "wrong"));
    const { problems } = read(lines(...wrong));
    expect(problems.map(({ line }) => line)).toEqual([
      1,
      2,
      3,
      ...Array.from({ length: MAX_PROBLEMS - 3 }, (_, index) => index + 5),
    ]);
  });

  test("with exactly that many problems is reported completely", () => {
    const wrong = Array.from({ length: MAX_PROBLEMS }, () => "wrong");
    expect(read(lines(...wrong, factory("a"))).problems).toHaveLength(MAX_PROBLEMS);
    expect(read(lines(...wrong.slice(1))).problems).toHaveLength(MAX_PROBLEMS - 1);
  });

  test("does not exceed the limit if its form is broken after them", () => {
    const wrong = Array.from({ length: MAX_PROBLEMS }, () => "{}");
    expect(read(`[${wrong.join(",")},{`).problems).toHaveLength(MAX_PROBLEMS);
  });
});

test("problems are formatted as path:line, which editors and terminals recognise", () => {
  const problems = [
    { line: 2, reason: "not JSON" },
    { line: 17, reason: "createdAt must be a string, but is missing" },
  ];
  expect(describeProblems("a/b.ndjson", problems)).toBe(
    "a/b.ndjson:2: not JSON\na/b.ndjson:17: createdAt must be a string, but is missing",
  );
  expect(describeProblems("a", [])).toBe("");
});

test("the same elements give the same result in every form of file", () => {
  const template = fc.constantFrom("AllocationFactory", "Holding", "other", "broken" as const);
  const given = fc.record({
    template,
    id: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"),
    note: fc.string({ unit: fc.constantFrom('"', "\\", "[", "]", "{", "}", ",", "\n", "\u2028", "a") }),
    lock: fc.option(fc.constantFrom("locked")),
    offset: fc.integer({ min: 0, max: 1_000_000 }),
    counter: fc.integer({ min: 0, max: 2 }),
    moving: fc.constantFrom("unassigned", "arriving", undefined),
  });
  const elements = fc.array(
    given.map(({ template: kind, id, note, lock, offset, counter, moving }): JsonObject => {
      if (kind === "broken") return { note };
      const options = { reassignmentCounter: counter, ...(moving === undefined ? {} : { moving }) };
      if (kind === "other") return at(offset, unknown(id));
      if (kind === "Holding") return at(offset, element(kind, id, { lock: lock === null ? null : { note } }, options));
      return at(offset, element("AllocationFactory", id, payload.service({ note }), options));
    }),
    { minLength: 1, maxLength: 12 },
  );
  fc.assert(
    fc.property(elements, (some) => {
      const texts = some.map((one) => JSON.stringify(one));
      const expected = withoutLines(read(texts.join("\n")));
      for (const file of [
        texts.map((text) => `\r\n${text}\r\n`).join(""),
        `\ufeff${texts.join("\n")}\n`,
        `[${texts.join(",")}]`,
        list(...some),
        JSON.stringify(some, undefined, 2),
      ]) {
        expect(withoutLines(read(file))).toEqual(expected);
      }
    }),
  );
});

/** Lines differ between forms, and so do the reasons for duplicates. */
function withoutLines({ problems, ...rest }: ReturnType<typeof read>) {
  return { ...rest, problems: problems.map(({ reason }) => reason.replace(/line \d+/, "line")) };
}
