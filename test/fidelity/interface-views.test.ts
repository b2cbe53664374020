/** A recording of a real participant's views: what is read of a contract by its interfaces, next to its template's fields. */
import { describe, expect, test } from "vitest";
import { parseDecimal } from "../../src/domain/decimal.js";
import type { StoredContract } from "../../src/domain/contract.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { isOf, type Template } from "../../src/domain/template.js";
import { Decoder } from "../../src/ledger/decode.js";
import { parseSnapshot } from "../../src/ledger/file/snapshot.js";
import { eventFormat, KnownFilters } from "../../src/ledger/participant/client.js";
import { decodeUpdate, type Unreadable } from "../../src/ledger/participant/elements.js";
import { unpackViews } from "../../src/domain/token-interfaces.js";
import { ViewFailure } from "../../src/ledger/views.js";
import { fullNames } from "../../src/registry/engine/file.js";
import type { TemplateDefinition } from "../../src/registry/engine/grammar.js";
import { type TableFields, type TableTemplate, tableTemplates } from "../../src/registry/engine/templates.js";
import { read } from "./recordings.js";

interface Recording {
  readonly testTokenV2: { readonly admin: string; readonly updates: JsonObject[]; readonly active: JsonObject[] };
  readonly utility: { readonly active: JsonObject[] };
  readonly templateAndInterface: { readonly filter: { readonly filtersByParty: JsonObject } };
  readonly unknownInterface: readonly { readonly cause: string }[];
}
const { testTokenV2, utility, templateAndInterface, unknownInterface } = read("interface-views-3.5.json") as Recording;

const standard = tableTemplates({
  templates: {
    transferFactory: { implements: "transfer-factory" },
    allocationFactory: { implements: "allocation-factory" },
    settlementFactory: { implements: "settlement-factory" },
    transferInstruction: { implements: "transfer-instruction" },
    allocation: { implements: "allocation" },
    holding: { implements: "holding" },
  },
});
const named = (name: string): TableTemplate => {
  const found = standard.get(name);
  if (found === undefined) throw new Error(name);
  return found;
};

/** The same by the names and fields of its templates. */
const NAMES = { package: "splice-test-token-v2", module: "Splice.Testing.Tokens.TestTokenV2" };
const sides = {
  choices: "allocation",
  registrar: "allocation.admin",
  accounts: { own: "allocation.authorizer", others: "allocation.transferLegSides.*.otherside" },
};
const templates: Readonly<Record<string, TemplateDefinition>> = {
  rules: { name: ":TokenRules", registrar: "admin" },
  offer: {
    name: ".Transfer:TokenTransferOffer",
    registrar: "transfer.instrumentId.admin",
    choices: "transfer-instruction",
    accounts: { own: ["transfer.sender", "transfer.receiver"] },
  },
  allocation: { ...sides, name: ".Allocation:TokenAllocationV2" },
  allocationV1: { ...sides, name: ".Allocation:TokenAllocationV1", at: "allocationV2" },
};

interface Decoded {
  readonly contracts: StoredContract<TableFields>[];
  readonly unreadable: readonly Unreadable[];
  readonly foreign: number | undefined;
}

/** Every contract that was created. */
function decodeAll(updates: readonly JsonValue[], all: Iterable<Template>): Decoded {
  const decoder = new Decoder([...all]);
  const decoded = updates.map((update) => decodeUpdate(update, decoder));
  const contracts = decoded.flatMap(({ changes }) =>
    changes.flatMap((change) => ("active" in change && "template" in change.active ? change.active : [])),
  ) as StoredContract<TableFields>[];
  return { contracts, unreadable: decoded.flatMap(({ unreadable }) => unreadable), foreign: decoder.foreign };
}

/** What answers depend on, without what the table by names leaves to the views: the parties and instruments of sides. */
const readOf = ({ contractId, fields: { registrar, roles, accounts } }: StoredContract<TableFields>) => ({
  contractId,
  registrar,
  executor: roles["executor"],
  own: accounts?.["own"],
  others: accounts?.["others"],
});
const partiesOf = ({ fields: { roles, instruments } }: StoredContract<TableFields>) => ({
  sender: roles["sender"],
  receiver: roles["receiver"],
  instruments,
});

describe("TestTokenV2", () => {
  const { contracts, unreadable, foreign } = decodeAll(testTokenV2.updates, standard.values());
  const of = (template: TableTemplate) => contracts.filter((one) => isOf(one.template, template));

  test("every contract is of the templates whose interfaces it shows", () => {
    const counts = [...standard].map(([name, template]) => [name, of(template).length]);
    expect(Object.fromEntries(counts)).toEqual({
      transferFactory: 1,
      allocationFactory: 1,
      settlementFactory: 1,
      transferInstruction: 61,
      allocation: 16,
      holding: 116,
    });
    expect(unreadable).toEqual([]);
    expect(foreign).toBe(0);
  });

  test("one contract of rules is every factory", () => {
    const [rules, ...more] = of(named("transferFactory"));
    expect(more).toEqual([]);
    expect(of(named("allocationFactory"))).toEqual([rules]);
    expect(of(named("settlementFactory"))).toEqual([rules]);
    expect(rules?.fields.registrar).toBe(testTokenV2.admin);
  });

  test("offers and allocations are read as by their templates", () => {
    const byName = tableTemplates({ templates: fullNames(templates, NAMES) });
    const expected = decodeAll(testTokenV2.updates, byName.values()).contracts;
    const ofKind = (kind: string) =>
      expected.filter(({ template }) =>
        [...byName].some(([name, one]) => one === template && templates[name]?.choices === kind),
      );
    const [offers, allocations] = [ofKind("transfer-instruction"), ofKind("allocation")];
    expect([offers.length, allocations.length]).toEqual([61, 16]);
    const byView = { offers: of(named("transferInstruction")), allocations: of(named("allocation")) };
    expect(byView.offers.map(readOf)).toEqual(
      offers.map(readOf).map(({ contractId, registrar, own }) => ({
        contractId,
        registrar,
        executor: undefined,
        own,
        others: undefined,
      })),
    );
    expect(byView.offers.map(partiesOf)).toEqual(offers.map(partiesOf));
    expect(byView.allocations.map(readOf)).toEqual(allocations.map(readOf));
    expect(new Set(byView.allocations.flatMap(({ fields }) => fields.instruments))).toEqual(new Set(["GOLD"]));
  });

  test("the deadline is that of the transfer or settlement, and the holdings are those of the view", () => {
    const offer = of(named("transferInstruction")).find(({ fields }) => (fields.refs["holdings"] ?? []).length > 0);
    const { transfer } = JSON.parse(offer?.body.payload ?? "{}") as { transfer: Transfer };
    expect(offer?.fields.refs["holdings"]).toEqual(transfer.inputHoldingCids);
    expect(offer?.fields.deadline).toBe(Date.parse(transfer.executeBefore) * 1000);
  });

  test("the body has the views that were read: of each kind the later version", () => {
    const kept = contracts.map(({ contractId, body }) => [contractId, unpackViews(body)]);
    const recorded = testTokenV2.updates
      .flatMap(createdBy)
      .map(({ contractId, interfaceViews }) => [
        contractId,
        Object.fromEntries(
          interfaceViews
            .map(({ interfaceId, viewValue }) => [interfaceId as string, viewValue] as const)
            .filter(
              ([id], _index, all) =>
                id.includes("V2:") || !all.some(([other]) => kindOf(other) === kindOf(id) && other !== id),
            ),
        ),
      ]);
    expect(kept).toEqual(recorded);
    expect(new Set(kept.map(([, views]) => Object.keys(views as JsonObject).length))).toEqual(new Set([1, 3]));
  });

  test("a contract that is read by its arguments keeps no view", () => {
    const byName = decodeAll(testTokenV2.updates, tableTemplates({ templates: fullNames(templates, NAMES) }).values());
    expect(byName.contracts.length).toBeGreaterThan(70);
    expect(new Set(byName.contracts.map(({ body }) => body.views))).toEqual(new Set([""]));
  });
});

/** `TransferFactory`, whatever the version. */
const kindOf = (interfaceId: string): string => interfaceId.replace(/^.*:/, "");

/** The creations of an update. */
function createdBy({ update }: JsonObject): CreatedEvent[] {
  const [form] = Object.values(update as JsonObject) as { value: { events?: JsonObject[] } }[];
  return (form?.value.events ?? []).flatMap(({ CreatedEvent: event }) => (event as CreatedEvent | undefined) ?? []);
}

describe("the Registry Utility, as its operator", () => {
  const registrars = [...new Set(utility.active.map((one) => createdIn(one).createArgument["registrar"] as string))];

  test("version 1 of every contract is read", () => {
    const decoder = new Decoder([...standard.values()], { registrars });
    const found = utility.active.flatMap((element) => decoder.decode(element) ?? []);
    const contracts = found.filter((one): one is StoredContract<TableFields> => "template" in one);
    expect(contracts.map(({ template, fields }) => [isOf(template, named("holding")), fields.registrar])).toEqual(
      utility.active
        .map(createdIn)
        .map(({ templateId, createArgument }) => [templateId.endsWith("Holding:Holding"), createArgument["registrar"]]),
    );
    expect(contracts.length).toBe(123);
    expect(decoder.foreign).toBe(0);
  });

  test("a registrar that we do not read as counts where it is configured", () => {
    const decoder = new Decoder([...standard.values()], { registrars: registrars.slice(0, 1) });
    const found = utility.active.filter((element) => decoder.decode(element) !== undefined);
    expect(new Set(found.map((one) => createdIn(one).createArgument["registrar"]))).toEqual(
      new Set(registrars.slice(0, 1)),
    );
    expect(decoder.foreign).toBe(123 - found.length);
  });
});

interface Transfer {
  readonly inputHoldingCids: readonly string[];
  readonly executeBefore: string;
}

interface CreatedEvent extends JsonObject {
  readonly templateId: string;
  readonly createArgument: JsonObject;
  readonly interfaceViews: JsonObject[];
}

function createdIn(element: JsonObject): CreatedEvent {
  const { JsActiveContract: active } = element["contractEntry"] as JsonObject;
  return (active as JsonObject)["createdEvent"] as CreatedEvent;
}

test("a participant is asked as the recorded one was: by interface without a name, by name where there is one", () => {
  const [admin = ""] = Object.keys(templateAndInterface.filter.filtersByParty);
  const rules = tableTemplates({ templates: fullNames(templates, NAMES) }).get("rules");
  const offers = tableTemplates({ templates: { offers: { implements: "transfer-instruction/2" } } }).values();
  const { present } = new KnownFilters([...offers, ...(rules === undefined ? [] : [rules])]);
  expect(eventFormat([admin], present, true)).toEqual(templateAndInterface.filter);
});

test("a package that the participant lacks is left out with its interfaces", () => {
  const filters = new KnownFilters([...standard.values()]);
  const count = filters.present.length;
  const [missing = ""] = /(?<=\[)splice[^\]]+/.exec(unknownInterface[0]?.cause ?? "") ?? [];
  expect(filters.leaveOut([missing])).toBe(true);
  expect(filters.missing).toEqual(["splice-api-token-transfer-instruction-v2"]);
  // A factory and an instruction.
  expect(filters.present.length).toBe(count - 2);
});

describe("a snapshot file", () => {
  const parse = (elements: readonly JsonObject[], decoder = new Decoder([...standard.values()])) =>
    parseSnapshot([elements.map((one) => JSON.stringify(one)).join("\n")], decoder);

  test("has the contracts of a stream", async () => {
    const { contracts, problems } = await parse(testTokenV2.active);
    expect(problems).toEqual([]);
    expect(contracts.length).toBe(testTokenV2.active.length);
  });

  test("without views is refused, not served without contracts", async () => {
    const without = testTokenV2.active.map((one) => {
      const element = structuredClone(one);
      createdIn(element).interfaceViews.splice(0);
      return element;
    });
    // As a file that replaces one with views.
    const decoder = new Decoder([...standard.values()]);
    expect((await parse(testTokenV2.active, decoder)).problems).toEqual([]);
    expect((await parse(without, decoder)).problems).toEqual([
      {
        line: 1,
        reason: expect.stringMatching(/^no contract shows the view of an interface.*"includeInterfaceView": true/),
      },
    ]);
  });
});

test("a holding of several templates adds to the supply", () => {
  const holding = testTokenV2.active.find((one) => createdIn(one).templateId.endsWith(":Token"));
  const twice = tableTemplates({ templates: { one: { implements: "holding/1" }, two: { implements: "holding/2" } } });
  const decoder = new Decoder([...twice.values()], { countsSupply: true });
  const { amount } = (createdIn(holding ?? {}).createArgument as { holding: { amount: string } }).holding;
  expect(decoder.decode(holding ?? {})?.supply?.amount).toBe(parseDecimal(amount));
});

describe("what a view says proves nothing", () => {
  const rules = testTokenV2.active.find((one) => createdIn(one).templateId.endsWith(":TokenRules"));
  const changed = (change: JsonObject): JsonObject => {
    const element = structuredClone(rules ?? {});
    Object.assign(createdIn(element), change);
    return element;
  };
  const decode = (element: JsonObject, registrars: readonly string[] = [], hasOwnWitnesses = true) => {
    const decoder = new Decoder([...standard.values()], { registrars });
    decoder.hasOwnWitnesses = hasOwnWitnesses;
    return { contract: decoder.decode(element), foreign: decoder.foreign };
  };
  const failing = { code: 9, message: "a view of ours", details: [] };
  const [view, ...others] = createdIn(rules ?? {}).interfaceViews;

  test("as it was recorded, it counts", () => {
    expect(decode(rules ?? {})).toMatchObject({ foreign: 0, contract: { fields: { registrar: testTokenV2.admin } } });
  });

  test.each([
    ["without the registrar's signature", { signatories: ["mallory::1220"] }],
    ["with the signature of another party that we read as", { signatories: ["ann::1"], witnessParties: ["ann::1"] }],
    ["of a registrar that signed it, and that we do not read as", { witnessParties: ["ann::1"] }],
    [
      "of others whose views fail",
      { signatories: ["mallory::1220"], interfaceViews: [{ ...view, viewStatus: failing }] },
    ],
  ])("%s it is foreign", (_name, change) => {
    expect(decode(changed(change as JsonObject))).toEqual({ contract: undefined, foreign: 1 });
  });

  test("read as any party, each signer is a witness: then a registrar that is configured counts, and no other", () => {
    const { admin } = testTokenV2;
    expect(decode(rules ?? {}, [], false)).toEqual({ contract: undefined, foreign: 1 });
    expect(decode(rules ?? {}, ["ann::1"], false)).toEqual({ contract: undefined, foreign: 1 });
    expect(decode(rules ?? {}, [admin], false)).toMatchObject({
      foreign: 0,
      contract: { fields: { registrar: admin } },
    });
  });

  test("a view that fails is named with its reason", () => {
    const element = changed({ interfaceViews: [{ ...view, viewStatus: failing }, ...others] });
    expect(() => decode(element)).toThrow(/could not compute the view of .*AllocationFactory: .*9,.*a view of ours/);
  });

  test.each([
    ["NO_VETTED_INTERFACE_IMPLEMENTATION_PACKAGE(9,f5ce331d): No vetted package", "of splice-test-token-v2"],
    ["NOT_CONNECTED_TO_ANY_SYNCHRONIZER(9,f5ce331d): Could not compute a package-id", "of splice-test-token-v2"],
    [
      "COMMAND_PREPROCESSING_FAILED(8,f5ce331d): An optional contract field may not be dropped",
      "of splice-test-token-v2",
    ],
    ["DAML_FAILURE(9,f5ce331d): NO_VETTED_INTERFACE_IMPLEMENTATION_PACKAGE(", undefined],
    ["UNHANDLED_EXCEPTION(9,f5ce331d): no view", undefined],
  ])("a view that fails as %s depends on the stream: %s", (message, choice) => {
    const element = changed({ interfaceViews: [{ ...view, viewStatus: { code: 9, message } }, ...others] });
    let failure: unknown;
    try {
      decode(element);
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(ViewFailure);
    const expected = choice && `${view?.["interfaceId"] as string} ${choice}`;
    expect((failure as ViewFailure).choice).toBe(expected);
  });

  test("another package of a known name is no guess", () => {
    const { interfaceId: published } = (view ?? {}) as { interfaceId?: string };
    const interfaceId = published?.replace(/^\w{64}/, "f".repeat(64)) ?? "";
    const element = changed({ interfaceViews: [{ ...view, interfaceId }, ...others] });
    expect(() => decode(element)).toThrow(/interface f{64}:.* is not the published one, of package 9818/);
  });

  test("what implements none of the interfaces is nothing to us", () => {
    expect(decode(changed({ interfaceViews: [] }))).toEqual({ contract: undefined, foreign: 0 });
  });
});
