/** What a module gives to `extendUtility` is checked: each kind of problem has a reason. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { checkContexts, compileContexts, ExtensionError } from "../../src/registry/utility/contexts.js";
import { dvpLegAllocation } from "../../src/registry/utility/templates.js";

const value = () => undefined;
const later = async () => undefined;
const own = { packageName: "own", qualifiedName: "Own:Licence", parse: () => undefined };
const template = (more: object) => ({ templates: [{ ...own, ...more }] });
const licence = (entry: unknown) => ({ entries: { licence: entry } });
const named = (name: string) => ({ entries: { [name]: value } });
const operation = (given: unknown, more: object = {}) => ({ operations: [given], ...more });

function problemsOf(extension: unknown): readonly string[] {
  try {
    checkContexts({}, extension);
  } catch (error) {
    if (error instanceof ExtensionError) return error.problems;
    throw error;
  }
  return [];
}

const FIELDS = "templates, entries, operations, allocations";
const OTHER = "must be another template: there is one of the name";
const NAME = "must be a name of lower-case letters, digits and hyphens that begins with a letter";
const TAKEN = "must have another name: there is an entry or disclosure of this name already";
const DISCLOSURES = "factory, locked-holding, allocations, allocation-holdings";
const WHEN = "must be checkBlocklist, severalInstruments, configured, or a map with a package";
const RULE = { operations: ["settlement-factory"], add: [{ entry: "transfer-rule" }] };

test.each<[unknown, path: string, reason: string]>([
  [null, "", "must be a map, but has no value"],
  [() => ({}), "", "must be a map, but is a function"],
  [[], "", "must be a map, but is an empty list"],
  [{ template: own }, ".template", `is not a known field; known fields: ${FIELDS}`],
  [{ templates: own }, ".templates", "must be a list, but is a map"],
  [{ templates: [null] }, ".templates[0]", "must be a map, but has no value"],
  [template({ qualifiedName: "" }), ".templates[0].qualifiedName", "must be a non-empty string"],
  [template({ parse: 5 }), ".templates[0].parse", "must be a synchronous function"],
  [template({ parse: later }), ".templates[0].parse", "must be a synchronous function"],
  [template({ revision: 2 }), ".templates[0].revision", "must be a non-empty string"],
  [
    { templates: [dvpLegAllocation] },
    ".templates[0]",
    `${OTHER} utility-registry-v0#Utility.Registry.V0.Holding.Allocation:DvpLegAllocation`,
  ],
  [{ templates: [own], allocations: [own] }, ".allocations[0]", `${OTHER} own#Own:Licence`],
  [{ entries: [] }, ".entries", "must be a map, but is an empty list"],
  [licence({ value }), ".entries.licence", "must be a synchronous function"],
  [licence(later), ".entries.licence", "must be a synchronous function"],
  [named("Licence"), ".entries.Licence", NAME],
  [named("transfer-rule"), ".entries.transfer-rule", TAKEN],
  [{ operations: {} }, ".operations", "must be a list, but is a map"],
  [operation("rewards"), ".operations[0]", 'must be a map, but is "rewards"'],
  [
    operation({ operations: ["settlement"], rewards: true }),
    ".operations[0].operations[0]",
    'must be an operation, but is "settlement"',
  ],
  [operation({ add: [{ entry: "a" }] }), ".operations[0].add[0].entry", "must be one of instrument-configuration, "],
  [
    operation({ add: [{ disclosure: "lisence" }] }, licence(value)),
    ".operations[0].add[0].disclosure",
    `must be one of ${DISCLOSURES}, licence, but is`,
  ],
  [
    operation(RULE),
    ".operations[0].add[0]",
    "must not add the key utility.digitalasset.com/transfer-rule to settlement-factory",
  ],
  [operation({ rewards: true, when: null }), ".operations[0].when", `${WHEN}, but has no value`],
  [operation({ rewards: 1n }), ".operations[0].rewards", "must be true or false, but is a bigint"],
])("refused is %o%s: %s", (extension, path, reason) => {
  const expected = `module${path}: ${reason}`;
  expect(problemsOf(extension)[0]?.slice(0, expected.length)).toBe(expected);
});

test("refused is an entry of the file that has the name of one of the module: in the file", () => {
  const find = [{ field: "a", is: "registrar" }];
  const file: JsonObject = { entries: { licence: { template: { package: "p", name: "M:T" }, find, value: "list" } } };
  const mistake = { path: ["entries", "licence"], message: TAKEN };
  expect(checkContexts(file, licence(value)).mistakes).toEqual([mistake]);
});

describe("accepted are", () => {
  const tableOf = (...given: Parameters<typeof compileContexts>) => compileContexts(...given).table;
  const entriesOf = (table: ReturnType<typeof tableOf>, name: keyof typeof table) =>
    table[name].entries.map(({ entry }) => entry);

  test("nothing, and templates that are instances of classes, whose methods are inherited", () => {
    expect(tableOf({}, {})).toEqual(tableOf());
    class Licence {
      packageName = own.packageName;
      qualifiedName = own.qualifiedName;
      parse() {
        return undefined;
      }
    }
    const one = new Licence();
    const operations = [{ add: [{ entry: "licence" }, { disclosure: "licence" }] }];
    const { table, templates } = compileContexts({}, { templates: [one], entries: { licence: value }, operations });
    expect(entriesOf(table, "mint-offer/cancel")).toEqual(["licence"]);
    expect(templates.at(-1)).toBe(one);
  });

  test("changes of both, of which those of the file come last", () => {
    const changes = [{ operations: ["settlement-factory"], remove: ["licence"] }, { rewards: false }];
    const operations = [{ add: [{ entry: "licence" }] }, { rewards: true }];
    const table = tableOf({ changes }, { entries: { licence: value }, operations });
    expect(entriesOf(table, "settlement-factory")).not.toContain("licence");
    expect(entriesOf(table, "mint-offer/accept")).toContain("licence");
    expect(entriesOf(table, "mint-offer/accept")).not.toContain("featured-app-right");
  });

  test("rewards that the module and the file switch on, once", () => {
    const table = tableOf({ changes: [{ rewards: true }] }, operation({ rewards: true }));
    const names = entriesOf(table, "mint-offer/accept").filter((name) => name === "featured-app-right");
    expect(names).toHaveLength(1);
  });
});
