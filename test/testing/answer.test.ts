/** Tests of registries ask as clients do: what `answer` returns is what the service sends. */
import { describe, expect, test } from "vitest";
import { notFound } from "../../src/domain/errors.js";
import type { Registry } from "../../src/registry/sdk/registry.js";
import { answer, RefusedRequest, type ShortContract } from "../../src/testing/answer.js";
import { tableOf } from "../fixtures/in-memory.js";
import { ownRegistry } from "../fixtures/own-registry.js";

const table = tableOf(`name: tea
package: tea-v1
module: Tea
templates:
  rules: { name: ":Rules", registrar: admin, until: end }
  offer: { name: ":Offer", registrar: admin, choices: transfer-instruction, refs: { leaf: leafCid } }
  leaf: { name: ":Leaf" }
factory: { template: rules }
instruments: [LEAF]
entries: { leaf: { template: leaf, byId: leaf } }
operations:
  transfer-instruction/accept: [{ archived: leaf, key: leaf-gone }]
`);
const rules: ShortContract = { template: ":Rules", payload: { admin: "a", end: "2026-03-01T00:00:00Z" } };
const transfer = { sender: "s", receiver: "r", instrumentId: { admin: "a", id: "LEAF" } };
const request = { operation: "transfer-factory", registrar: "a", choiceArguments: { transfer } } as const;

describe("contracts in short form", () => {
  test("have defaults, or what they say", async () => {
    const defaults = {
      templateId: "package:Tea:Rules",
      contractId: "contract-1",
      synchronizerId: "synchronizer::1220",
    };
    expect(await answer(table, [rules], request)).toEqual({
      factory: "contract-1",
      transferKind: "offer",
      values: {},
      disclosed: [{ ...defaults, createdEventBlob: "AAAA" }],
    });
    const given = { template: "0a1b:Tea:Rules", contractId: "00c0", synchronizerId: "here" };
    const { disclosed } = await answer(table, [{ ...rules, ...given }], request);
    const expected = { templateId: "0a1b:Tea:Rules", contractId: "00c0", synchronizerId: "here" };
    expect(disclosed).toMatchObject([expected]);
  });

  test("the newest is found first", async () => {
    const newer = { ...rules, createdAt: "2026-01-02T00:00:00Z" };
    expect(await answer(table, [rules, newer, rules], request)).toMatchObject({ factory: "contract-2" });
  });

  test.each([
    [{ template: "Tea:Cup" }, "template Tea:Cup is none of the registry's: Tea:Rules, Tea:Offer, Tea:Leaf"],
    [{ payload: {} }, "the contracts cannot be read:\ncontracts:1: admin must not be empty or missing"],
  ])("are a mistake with %j", async (wrong, message) => {
    await expect(answer(table, [{ ...rules, ...wrong }], request)).rejects.toThrow(message);
  });
});

describe("a request", () => {
  test("is asked at its time, or when the latest contract was created", async () => {
    await expect(answer(table, [rules], { ...request, at: "2026-03-01T00:00:00Z" })).rejects.toMatchObject({
      status: 404,
    });
    const late = { ...rules, createdAt: "2026-04-01T00:00:00Z" };
    await expect(answer(table, [late], request)).rejects.toMatchObject({ status: 404 });
    expect(await answer(table, [rules], request)).toMatchObject({ transferKind: "offer" });
  });

  test("meets contracts that are archived", async () => {
    const offer = { template: ":Offer", contractId: "offer", payload: { admin: "a", leafCid: "leaf" } };
    const leaf = { template: ":Leaf", contractId: "leaf", payload: {} };
    const accept = { operation: "transfer-instruction/accept", registrar: "a", contractId: "offer" } as const;
    const gone = (archived: readonly string[]) => answer(table, [rules, offer, leaf], { ...accept, archived });
    for (const [archived, value] of [[[], false] as const, [["leaf"], true] as const]) {
      const values = { "leaf-gone": { tag: "AV_Bool", value } };
      // oxlint-disable-next-line no-await-in-loop -- two cases
      expect(await gone(archived)).toEqual({ values, disclosed: [] });
    }
    await expect(gone(["offer"])).rejects.toMatchObject({ status: 404, code: "instruction-archived" });
  });

  test("is refused with status, code and message", async () => {
    await expect(answer(table, [], request)).rejects.toEqual(
      new RefusedRequest(
        404,
        "registrar-not-served",
        "registrar a is not served here: no Tea:Rules of that party is known",
      ),
    );
    await expect(answer(table, [], { operation: "transfer-factory", registrar: "a" })).rejects.toMatchObject({
      status: 400,
      code: "invalid-field",
      message: "choiceArguments: value is required",
    });
  });

  test("of a version that does not have the operation is a mistake", async () => {
    const asking = answer(table, [rules], { ...request, operation: "settlement-factory", version: "v1" });
    await expect(asking).rejects.toThrow("settlement-factory is not an operation of v1 of the token standard");
  });
});

const own = (transferFactory: Registry["transferFactory"]): Registry => ({ ...ownRegistry, transferFactory });

const failure = new TypeError("no such field");
const undisclosed = "registry own gave an answer that cannot be used: the factory f is not disclosed";
test.each<[string, Registry["transferFactory"], unknown]>([
  [
    "what is wrong with its answer",
    () => ({ factoryId: "f", transferKind: "offer", values: [], disclosed: [] }),
    expect.objectContaining({ message: undisclosed }),
  ],
  ["its own error", () => throwing(failure), failure],
  [
    "its refusal with its own code",
    () => throwing(notFound("no tea", { code: "TEA_MISSING" })),
    new RefusedRequest(404, "tea-missing", "no tea"),
  ],
])("a module throws %s", async (_what, transferFactory, expected) => {
  await expect(answer(own(transferFactory), [], request)).rejects.toEqual(expected);
});

function throwing(error: Error): never {
  throw error;
}
