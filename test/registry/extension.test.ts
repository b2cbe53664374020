/** What a module gives to `extendUtility` is checked: each kind of problem has a reason. */
import { describe, expect, test } from "vitest";
import { checkContexts, compileContexts, ExtensionError } from "../../src/registry/utility/contexts.js";
import { dvpLegAllocation } from "../../src/registry/utility/templates.js";

const value = () => undefined;
const parse = () => undefined;
const template = { packageName: "own", qualifiedName: "Own:Licence", parse };

function problemsOf(extension: unknown): readonly string[] {
  try {
    checkContexts({}, extension);
  } catch (error) {
    if (error instanceof ExtensionError) return error.problems;
    throw error;
  }
  return [];
}

describe("is refused:", () => {
  test.each<[string, unknown, string]>([
    ["null", null, "module: must be a map, but has no value"],
    ["a function", () => ({}), "module: must be a map, but is a function"],
    ["a list", [], "module: must be a map, but is an empty list"],
    [
      "an unknown field",
      { template },
      "module.template: is not a known field; known fields: templates, entries, operations, allocations",
    ],
    ["templates that are no list", { templates: template }, "module.templates: must be a list, but is a map"],
    ["a template that is null", { templates: [null] }, "module.templates[0]: must be a map, but has no value"],
    [
      "a template without a name",
      { templates: [{ ...template, qualifiedName: "" }] },
      "module.templates[0].qualifiedName: must be a non-empty string",
    ],
    [
      "a template without parse",
      { templates: [{ ...template, parse: 5 }] },
      "module.templates[0].parse: must be a synchronous function",
    ],
    [
      "a template with an async parse",
      { templates: [{ ...template, parse: async () => undefined }] },
      "module.templates[0].parse: must be a synchronous function",
    ],
    [
      "a revision that is a number",
      { templates: [{ ...template, revision: 2 }] },
      "module.templates[0].revision: must be a non-empty string",
    ],
    [
      "a template of the registry",
      { templates: [dvpLegAllocation] },
      "module.templates[0]: must be another template: there is one of the name utility-registry-v0#Utility.Registry.V0.Holding.Allocation:DvpLegAllocation",
    ],
    [
      "a template twice",
      { templates: [template], allocations: [template] },
      "module.allocations[0]: must be another template: there is one of the name own#Own:Licence",
    ],
    ["entries that are a list", { entries: [] }, "module.entries: must be a map, but is an empty list"],
    [
      "an entry that is a function",
      { entries: { licence: value } },
      "module.entries.licence: must be a map, but is a function",
    ],
    [
      "an entry without value",
      { entries: { licence: { disclose: value } } },
      "module.entries.licence.value: must be a synchronous function",
    ],
    [
      "an entry with an async value",
      { entries: { licence: { value: async () => undefined } } },
      "module.entries.licence.value: must be a synchronous function",
    ],
    [
      "a name in capitals",
      { entries: { Licence: { value } } },
      "module.entries.Licence: must be a name of lower-case letters, digits and hyphens that begins with a letter",
    ],
    [
      "the name of a built-in entry",
      { entries: { "transfer-rule": { value } } },
      "module.entries.transfer-rule: must have another name: there is an entry or disclosure of this name already",
    ],
    ["operations that are a map", { operations: {} }, "module.operations: must be a list, but is a map"],
    [
      "an operation that is a text",
      { operations: ["rewards"] },
      'module.operations[0]: must be a map, but is "rewards"',
    ],
    [
      "an unknown operation",
      { operations: [{ operations: ["settlement"], rewards: true }] },
      'module.operations[0].operations[0]: must be an operation, but is "settlement"',
    ],
    [
      "an unknown entry",
      { operations: [{ add: [{ entry: "licence" }] }] },
      "module.operations[0].add[0].entry: must be one of instrument-configuration, ",
    ],
    [
      "an entry without disclose as a disclosure",
      { entries: { licence: { value } }, operations: [{ add: [{ disclosure: "licence" }] }] },
      "module.operations[0].add[0].disclosure: must be one of factory, locked-holding, allocations, allocation-holdings, but is",
    ],
    [
      "a key that is there already",
      { operations: [{ operations: ["settlement-factory"], add: [{ entry: "transfer-rule" }] }] },
      "module.operations[0].add[0]: must not add the key utility.digitalasset.com/transfer-rule to settlement-factory",
    ],
    [
      "a condition that is null",
      { operations: [{ rewards: true, when: null }] },
      "module.operations[0].when: must be checkBlocklist, severalInstruments, configured, or a map with a package, but has no value",
    ],
    [
      "a big integer",
      { operations: [{ rewards: 1n }] },
      "module.operations[0].rewards: must be true or false, but is a bigint",
    ],
  ])("%s", (_what, extension, reason) => {
    expect(problemsOf(extension)[0]?.slice(0, reason.length)).toBe(reason);
  });

  test("an entry of the file that has the name of one of the module, in the file", () => {
    const file = {
      entries: {
        licence: { template: { package: "p", name: "M:T" }, find: [{ field: "a", is: "registrar" }], value: "list" },
      },
    };
    expect(checkContexts(file, { entries: { licence: { value } } }).mistakes).toEqual([
      {
        path: ["entries", "licence"],
        message: "must have another name: there is an entry or disclosure of this name already",
      },
    ]);
  });
});

describe("is accepted:", () => {
  test("nothing", () => {
    expect(compileContexts({}, {}).table).toEqual(compileContexts().table);
  });

  test("instances of classes, whose methods are inherited", () => {
    class Licence {
      packageName = "own";
      qualifiedName = "Own:Licence";
      parse = parse;
      value() {
        return undefined;
      }
      disclose() {}
    }
    const [one, operations] = [new Licence(), [{ add: [{ entry: "licence" }, { disclosure: "licence" }] }]];
    const { table, templates } = compileContexts({}, { templates: [one], entries: { licence: one }, operations });
    expect(table["mint-offer/cancel"].entries.map(({ entry }) => entry)).toEqual(["licence"]);
    expect(templates.at(-1)).toBe(one);
  });

  test("changes of both, of which those of the file come last", () => {
    const { table } = compileContexts(
      { changes: [{ operations: ["settlement-factory"], remove: ["licence"] }, { rewards: false }] },
      { entries: { licence: { value } }, operations: [{ add: [{ entry: "licence" }] }, { rewards: true }] },
    );
    const names = (operation: keyof typeof table) => table[operation].entries.map(({ entry }) => entry);
    expect(names("settlement-factory")).not.toContain("licence");
    expect(names("mint-offer/accept")).toContain("licence");
    expect(names("mint-offer/accept")).not.toContain("featured-app-right");
  });

  test("rewards that the module and the file switch on", () => {
    const { table } = compileContexts({ changes: [{ rewards: true }] }, { operations: [{ rewards: true }] });
    const names = table["mint-offer/accept"].entries.map(({ entry }) => entry);
    expect(names.filter((name) => name === "featured-app-right")).toHaveLength(1);
  });
});
