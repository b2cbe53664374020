/** What a module gives to `extendUtility` is checked: each kind of problem has a reason. */
import { describe, expect, test } from "vitest";
import { notFound } from "../../src/domain/errors.js";
import type { JsonObject } from "../../src/util/json.js";
import { compileContexts, ExtensionError } from "../../src/registry/utility/contexts.js";
import { dvpLegAllocation } from "../../src/registry/utility/templates.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { executorOn, storeOf, utilityWith } from "../fixtures/in-memory.js";

const value = () => undefined;
const later = async () => undefined;
const own = { packageName: "own", qualifiedName: "Own:Licence", parse: () => undefined };
const template = (more: object) => ({ templates: [{ ...own, ...more }] });
const licence = (entry: unknown) => ({ entries: { licence: entry } });
const named = (name: string) => ({ entries: { [name]: value } });
const change = (given: unknown, more: object = {}) => ({ changes: [given], ...more });

function problemsOf(extension: unknown): readonly string[] {
  try {
    compileContexts({}, extension);
  } catch (error) {
    if (error instanceof ExtensionError) return error.problems;
    throw error;
  }
  return [];
}

const FIELDS = "templates, entries, changes, allocations";
const OTHER = "must be another template: there is one of the name";
const NAME = "must be a name of lower-case letters, digits and hyphens that begins with a letter";
const TAKEN = "must have another name: there is an entry of this name already";
const RULE = { on: ["settlement-factory"], add: [{ entry: "transfer-rule" }] };

test.each<[unknown, path: string, reason: string]>([
  [null, "", "must be a map, but has no value"],
  [{ template: own }, ".template", `is not a known field; known fields: ${FIELDS}`],
  [{ templates: own }, ".templates", "must be a list, but is a map"],
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
  [licence({ value }), ".entries.licence", "must be a synchronous function"],
  [licence(later), ".entries.licence", "must be a synchronous function"],
  [named("Licence"), ".entries.Licence", NAME],
  [named("transfer-rule"), ".entries.transfer-rule", TAKEN],
  [{ changes: {} }, ".changes", "must be a list, but is a map"],
  [change({ add: [{ entry: "a" }] }), ".changes[0].add[0].entry", "entry a is not defined here: there are service, "],
  [
    change({ add: [{ disclosure: "lisence" }] }, licence(value)),
    ".changes[0].add[0].disclosure",
    "entry lisence is not defined here: there are service, ",
  ],
  [
    change(RULE),
    ".changes[0].add[0]",
    "must not add the key utility.digitalasset.com/transfer-rule to settlement-factory",
  ],
  [change({ set: { missing: 1n } }), ".changes[0].set.missing", "must be one of refuse, omit, allow, but is a bigint"],
])("refused is %o%s: %s", (extension, path, reason) => {
  const expected = `module${path}: ${reason}`;
  expect(problemsOf(extension)[0]?.slice(0, expected.length)).toBe(expected);
});

test("refused is an entry of the file that has the name of one of the module: in the file", () => {
  const templates = { own: { package: "p", name: "M:T" } };
  const file: JsonObject = { templates, entries: { licence: { template: "own", find: { a: "registrar" } } } };
  expect(() => compileContexts(file, licence(value))).toThrow(`entries.licence: ${TAKEN}`);
});

describe("accepted are", () => {
  const tableOf = (...given: Parameters<typeof compileContexts>) => compileContexts(...given).table;
  const namesOf = ({ rows }: ReturnType<typeof tableOf>, operation: keyof typeof rows) =>
    rows[operation]?.lines.map(({ kind, name }) => `${kind} ${name}`);

  test("nothing, and templates that are instances of classes, whose methods are inherited", () => {
    expect(tableOf({}, {}).rows).toEqual(tableOf().rows);
    class Licence {
      packageName = own.packageName;
      qualifiedName = own.qualifiedName;
      parse() {
        return undefined;
      }
    }
    const one = new Licence();
    const changes = [{ add: [{ entry: "licence" }, { disclosure: "licence" }] }];
    const { table, templates } = compileContexts({}, { templates: [one], entries: { licence: value }, changes });
    // Values stand before what is only disclosed.
    const names = ["entry licence", "disclosure locked-holding", "disclosure licence"];
    expect(namesOf(table, "mint-offer/cancel")).toEqual(names);
    expect(templates.at(-1)).toBe(one);
  });

  test("changes of both, of which those of the file come last", () => {
    const changes = [{ on: ["settlement-factory"], remove: ["licence"] }];
    const table = tableOf({ changes }, { entries: { licence: value }, changes: [{ add: [{ entry: "licence" }] }] });
    expect(namesOf(table, "settlement-factory")).not.toContain("entry licence");
    expect(namesOf(table, "mint-offer/accept")).toContain("entry licence");
  });
});

describe("what an entry throws", () => {
  const changes = [{ on: ["mint-offer/create"], add: [{ entry: "licence" }, { entry: "seal" }] }];
  const elements = [
    element("AllocationFactory", "factory", payload.service()),
    element("InstrumentConfiguration", "usd", payload.configuration("USD")),
  ];
  async function ask(error: Error) {
    const failing = () => {
      throw error;
    };
    const seal = () => {
      throw notFound("no seal");
    };
    const registry = utilityWith({}, { entries: { licence: failing, seal }, changes });
    const query = { registrar: parties.registrar, instrumentId: "USD", holders: ["alice"] };
    return executorOn(await storeOf(elements, registry), registry).execute((served, context) =>
      served.utility?.issuanceFactory(context, "mint-offer", query),
    );
  }

  test("is a cause of the refusal, beside those of others, if it is a refusal", async () => {
    await expect(ask(notFound("no licence"))).rejects.toThrow(/^no licence; no seal$/);
  });

  test("else is thrown as it is", async () => {
    const defect = new TypeError("broken");
    await expect(ask(defect)).rejects.toBe(defect);
  });
});
