/** The Registry Utility asked on a store in memory: APIs of a registrar and archived instructions. */
import { describe, expect, test } from "vitest";
import { causesOf, RegistryError } from "../../src/domain/errors.js";
import type { JsonObject } from "../../src/util/json.js";
import { backgroundContext } from "../../src/registry/background.js";
import { ask } from "../../src/testing/answer.js";
import { element, type Options, parties, payload } from "../fixtures/elements.js";
import { executorOn, storeOf, utilityWith } from "../fixtures/in-memory.js";
import { instructions, registryOf } from "../fixtures/registries.js";

const { registrar } = parties;
const OTHER = "other::1220";

describe("the APIs of a registrar", () => {
  const v1 = {
    "splice-api-token-metadata-v1": 2,
    "splice-api-token-transfer-instruction-v1": 1,
    "splice-api-token-allocation-v1": 1,
    "splice-api-token-allocation-instruction-v1": 1,
    "splice-api-token-holding-v1": 1,
    "splice-api-token-allocation-request-v1": 1,
  };
  const all = {
    ...v1,
    "splice-api-token-holding-v2": 1,
    "splice-api-token-transfer-instruction-v2": 1,
    "splice-api-token-allocation-v2": 1,
    "splice-api-token-allocation-instruction-v2": 1,
    "splice-api-token-allocation-request-v2": 1,
    "splice-api-token-transfer-events-v2": 1,
  };
  const factory = (packageId: string, of: string = registrar, more: Options = {}) =>
    element("AllocationFactory", `${packageId} of ${of}`, payload.service({ registrar: of }), { packageId, ...more });
  const late: Options = { createdAt: "2026-02-05T09:00:00.000000Z" };
  const moving: Options = { moving: "unassigned" };

  /** The elements and the versions of the packages. */
  async function apisOf(elements: readonly JsonObject[], packages: Readonly<Record<string, string>>, of = registrar) {
    const utility = utilityWith({ packages });
    const store = await storeOf(elements, utility);
    return store.read((view) => utility.supportedApisOf?.(backgroundContext(view, 0), of));
  }

  test.each<[string, object]>([
    ["0.9.0", all],
    ["0.10.0", all],
    ["0.8.10", v1],
  ])("with a factory of version %s", async (version, expected) => {
    expect(await apisOf([factory("app")], { app: version })).toEqual(expected);
  });

  const versions = { old: "0.2.0", new: "0.9.0" };
  // The old one is created last: the newest contract does not decide.
  const both = [factory("new"), factory("old", registrar, late)];
  test.each<[string, JsonObject[], Record<string, string>, object]>([
    ["whose version is unknown", [factory("app")], {}, v1],
    ["of which both are old", both, { ...versions, new: "0.8.0" }, v1],
    ["of which one is current", both, versions, all],
    ["of which one is old and the version of the other unknown", both, { old: "0.2.0" }, v1],
    ["of which one is current and the version of the other unknown", both, { new: "0.9.0" }, all],
    ["of which one is in reassignment", [factory("old"), factory("new", registrar, moving)], versions, all],
    ["beside those of others", [factory("old"), factory("new", OTHER)], versions, v1],
  ])("with factories %s", async (_what, elements, packages, expected) => {
    expect(await apisOf(elements, packages)).toEqual(expected);
  });

  test("are those of its instruments, too", async () => {
    const usd = element("InstrumentConfiguration", "usd", payload.configuration("USD"), { packageId: "new" });
    const utility = utilityWith({ packages: versions });
    const list = await ask(utility, [factory("old"), usd], { operation: "instruments", registrar });
    expect(list).toMatchObject({ instruments: [{ id: "USD", supportedApis: v1 }] });
    await expect(ask(utility, [usd], { operation: "instruments", registrar })).rejects.toThrow("not served");
  });
});

/** An archived instruction is told apart from one never seen, to its own registrar alone. */
describe("an instruction that has been archived", () => {
  async function refused(of: string | undefined, contractId: string) {
    const others = element("AllocationFactory", "others", payload.service({ registrar: OTHER }));
    const store = await storeOf([...registryOf(), ...instructions(), others]);
    await store.apply([{ archived: "offer" }, { archived: "burn-offer" }], 11);
    const executor = executorOn(store);
    const query = { registrar: of, contractId };
    try {
      // A path of version 0 names no registrar.
      if (of === undefined)
        await executor.executeUtility((utility, context) =>
          utility.issuanceContext(context, "burn-offer/accept", query),
        );
      else
        await executor.execute((utility, context) =>
          utility.choiceContext(context, "transfer-instruction/accept", { ...query, registrar: of }),
        );
    } catch (error) {
      if (error instanceof RegistryError) return [causesOf(error)[0]?.code, error.message];
      throw error;
    }
    throw new Error("it was answered");
  }

  test.each([
    [registrar, "offer", "instruction-archived"],
    [registrar, "never", "instruction-unknown"],
    [OTHER, "offer", "instruction-unknown"],
    [undefined, "burn-offer", "instruction-archived"],
    [undefined, "never", "instruction-unknown"],
  ])("as %s learns of %s: %s", async (of, contractId, code) => {
    expect((await refused(of, contractId))[0]).toBe(code);
  });

  test("is archived in the message for its registrar, and as if it never was for another", async () => {
    const message = `transfer instruction offer of registrar ${registrar} has been archived`;
    expect(await refused(registrar, "offer")).toEqual(["instruction-archived", message]);
    const [ofArchived, ofUnknown] = [await refused(OTHER, "offer"), await refused(OTHER, "never!")];
    expect(ofArchived[1]?.replace("offer", "never!")).toBe(ofUnknown[1]);
  });
});
