/** Burning and minting at once: the ledger reads the credentials of the owners of all inputs and outputs, from one list. */
import { describe, expect, test } from "vitest";
import type { HoldingSource, InputHolding } from "../../src/domain/ledger.js";
import type { JsonObject } from "../../src/domain/json.js";
import { utilityRegistry } from "../../src/registry/utility/index.js";
import { MIN_SETTLEMENT_LIMITS } from "../../src/registry/utility/allocation.js";
import { burnMintFactory } from "../fixtures/calls/operations.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { askOver, refused, restAndGrpc } from "../fixtures/outcomes.js";
import { type Outcome, outcomeOf, storeNames, useStore, type World } from "./executors.js";
import { withInputs } from "./inputs.js";
import { complete, groupElements } from "./table.js";

const { registrar } = parties;
const issues = (party: string): JsonObject =>
  element("Credential", `${party}-issues`, payload.credential(party, ["issues=USD"]));
const locked = (id: string, owner: string, more: JsonObject = {}): JsonObject =>
  element("Holding", id, payload.lockedHolding(owner, "USD", more));
/** alice and the registrar have credentials as issuers. So do bob and carol here. */
const elements = [...complete(), issues("bob"), issues("carol"), locked("of-bob", "bob"), locked("of-carol", "carol")];
const registry = utilityRegistry({ settlementLimits: MIN_SETTLEMENT_LIMITS });

const answered = (credentials: readonly string[], suffix = ""): Outcome => ({
  factoryId: `factory${suffix}`,
  values: { "instrument-configuration": `usd${suffix}`, "issuer-credentials": credentials.join() },
  disclosed: [...credentials, `factory${suffix}`, `usd${suffix}`].toSorted(),
});

const ownedBy = (contractId: string, owner: string, more: Partial<InputHolding> = {}): InputHolding => ({
  contractId,
  owner,
  ...parties,
  instrumentId: "USD",
  ...more,
});

/** A ledger with these holdings. `asked` has the ids of each call. */
function ledgerWith(...known: readonly (InputHolding | readonly [string, "archived"])[]) {
  const asked: (readonly string[])[] = [];
  const entries = known.map((one): readonly [string, InputHolding | "archived"] =>
    "contractId" in one ? [one.contractId, one] : one,
  );
  const source: HoldingSource = {
    async holdings(contractIds) {
      asked.push(contractIds);
      return new Map(entries.filter(([id]) => contractIds.includes(id)));
    },
  };
  return { asked, source };
}

describe.each(storeNames)("in %s", (name) => {
  const put = useStore(name);

  async function burn(inputHoldings: readonly string[], holders: readonly string[], more: Partial<World> = {}) {
    const executor = await put({ registry, elements, ...more });
    const query = { registrar, instrumentId: "USD", holders, inputHoldings };
    return outcomeOf(() => executor.executeUtility((utility, context) => utility.burnMintFactory(context, query)));
  }

  test("a burn without outputs has the owners of its inputs, which the store has", async () => {
    expect(await burn(["of-bob", "of-carol"], [])).toEqual(answered(["bob-issues", "carol-issues"]));
  });

  test("or which are read from the ledger, in one call with those that the store lacks", async () => {
    const { asked, source } = ledgerWith(ownedBy("00aa", "carol"), ownedBy("00bb", "alice"));
    const outcome = await burn(["00aa", "of-bob", "00bb", "00aa"], [], { holdings: source });
    expect(outcome).toEqual({
      ...answered(["bob-issues", "carol-issues", "alice-issues"]),
      disclosed: ["alice-issues", "bob-issues", "carol-issues", "factory", "usd"],
    });
    expect(asked).toEqual([["00aa", "00bb"]]);
  });

  test("nothing is read from the ledger if the store has all", async () => {
    const { asked, source } = ledgerWith();
    await burn(["of-bob"], ["alice"], { holdings: source });
    expect(asked).toEqual([]);
  });

  test("owners of inputs and outputs share one list, each credential once", async () => {
    expect(await burn(["of-bob", "locked"], ["alice", "carol", "bob"])).toEqual({
      ...answered(["bob-issues", "alice-issues", "carol-issues"]),
    });
  });

  test("the registrar has its own credentials in it only if it owns a holding", async () => {
    expect(await burn([], ["alice"])).toEqual(answered(["alice-issues"]));
    const { source } = ledgerWith(ownedBy("00aa", registrar));
    expect(await burn(["00aa"], ["alice"], { holdings: source })).toEqual(
      answered(["registrar-issues", "alice-issues"]),
    );
    expect(await burn([], [registrar])).toEqual(answered(["registrar-issues"]));
  });

  test("an input that the ledger has archived is not found", async () => {
    const { source } = ledgerWith(["00aa", "archived"], ownedBy("00bb", "bob"));
    const outcome = await burn(["00bb", "00aa"], ["alice"], { holdings: source });
    expect(outcome).toEqual({ refused: "not-found", message: expect.stringContaining("00aa") as unknown });
  });

  test("one that the store has seen archived is not found", async () => {
    const outcome = await burn(["of-bob"], ["alice"], { archived: ["of-bob"] });
    expect(outcome).toEqual({ refused: "not-found", message: expect.stringContaining("of-bob") as unknown });
  });

  test.each<[string, Partial<World>]>([
    ["the source has no ledger", {}],
    ["the ledger does not know it", { holdings: ledgerWith().source }],
  ])("an input that cannot be read is left out: %s", async (_why, more) => {
    expect(await burn(["00aa", "of-bob"], ["alice"], more)).toEqual(answered(["bob-issues", "alice-issues"]));
  });

  test("of two groups that have the instrument, the holding that is read decides", async () => {
    const provider = "provider-2::1220";
    const second = groupElements("-2", { provider }, {}, { createdAt: "2026-02-05T09:00:00.000000Z" });
    const two = [...elements, ...second];
    const { source } = ledgerWith(ownedBy("00aa", "bob"), ownedBy("00bb", "bob", { provider }));
    expect(await burn(["00aa"], [], { elements: two, holdings: source })).toEqual(answered(["bob-issues"]));
    expect(await burn(["00bb"], [], { elements: two, holdings: source })).toEqual(answered(["bob-issues"], "-2"));
    // A holding of another registrar decides nothing.
    const { source: others } = ledgerWith(ownedBy("00aa", "bob", { registrar: "registrar-2::1220" }));
    expect(await burn(["00aa"], [], { elements: two, holdings: others })).toEqual(answered(["bob-issues"], "-2"));
  });
});

describe.each(restAndGrpc)("over %s", (_protocol, send) => {
  const ask = askOver(send);

  test("the input holdings of the request count", async () => {
    const call = withInputs(burnMintFactory([]), ["of-bob", "00ff"]);
    expect(await ask(elements, call)).toMatchObject({ disclosed: ["bob-issues", "factory", "usd"] });
    expect(await ask(elements, withInputs(burnMintFactory(["carol"]), ["of-bob"]))).toMatchObject({
      disclosed: ["bob-issues", "carol-issues", "factory", "usd"],
    });
  });

  test("an instrument that has no configuration is not found", async () => {
    expect(await ask(elements, burnMintFactory(["alice"], "GBP"))).toEqual(refused(404, "GBP"));
  });
});
