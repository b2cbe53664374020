/**
 * Reject, withdraw and cancel must always be possible: they fail only for an instruction that is not known, and where it or
 * its locked holding is in reassignment.
 */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { onTransfer } from "../fixtures/calls/operations.js";
import { element, type Options, parties, payload } from "../fixtures/elements.js";
import { askOver, refused, restAndGrpc, shortOutcome } from "../fixtures/outcomes.js";
import { useRegistry } from "../fixtures/registries.js";
import { complete, ENABLED, groupElements, onInstructions, partyElements, type Row, without } from "./table.js";

const exits = onInstructions.filter(({ name }) => /reject|withdraw|cancel/.test(name));
const locks = ({ disclosed }: Row): boolean => disclosed.includes("locked");
const keysOf = ({ values }: JsonObject): string[] => Object.keys(values as JsonObject);

const isInstruction = (one: JsonObject): boolean =>
  /:(TransferOffer|DvpLegAllocation|(Mint|Burn)(Offer|Request))"/.test(JSON.stringify(one));
const isLocked = (one: JsonObject): boolean => JSON.stringify(one).includes('"contractId":"locked"');
const [instructions, locked] = [complete().filter(isInstruction), complete().filter(isLocked)];
const moved = (options: Options, select: (one: JsonObject) => boolean): JsonObject[] =>
  groupElements("", {}, {}, options).filter(select);

const moving: readonly Options[] = [{ moving: "unassigned" }, { moving: "arriving" }];
const elsewhere: Options = { synchronizerId: "sync-B" };
const isService = (one: JsonObject): boolean => !isInstruction(one) && !isLocked(one);

const whole = ({ keys, disclosed }: Row) => ({ keys, disclosed });
const withoutHolding = ({ keys }: Row) => ({ keys, disclosed: [] });

test("the rows", () => {
  expect(exits).toHaveLength(4 + 4 + 8);
  expect(exits.filter(locks)).toHaveLength(4 + 4 + 2);
});

describe.each(restAndGrpc)("over %s", (_protocol, send) => {
  const ask = askOver(send);

  /** Makes the call of each exit. `outcome` says what is expected. */
  function each(elements: readonly JsonObject[], outcome: (row: Row) => unknown, rows: readonly Row[] = exits): void {
    const url = useRegistry(elements);
    test.each(rows)("$name", async (row) => {
      const answer = shortOutcome(await send(url(), row.call));
      expect("values" in answer ? { keys: keysOf(answer), disclosed: answer["disclosed"] } : answer).toEqual(
        outcome(row),
      );
    });
  }
  // The service is only read, so its synchronizer does not matter.
  describe.each([...moving, elsewhere])("with all else than instruction and holding in %o", (options) => {
    each([...instructions, ...locked, ...moved(options, isService)], whole);
  });

  describe("with nothing but the instruction", () => {
    each(instructions, () => ({ keys: [], disclosed: [] }));
  });

  describe("with credentials that have lapsed", () => {
    const lapsed = payload.credential("alice", ["holds=USD", "issues=USD"], { validUntil: "2026-05-31T00:00:00Z" });
    each([...groupElements(""), element("Credential", "lapsed", lapsed)], whole);
  });

  describe.each(moving)("while the locked holding is in reassignment: %o", (options) => {
    const elements = [...without("locked", complete()), ...moved(options, isLocked)];
    each(elements, (row) => (locks(row) ? refused(409, "locked", "being reassigned") : whole(row)));
  });

  describe("with a locked holding on another synchronizer", () => {
    each([...without("locked", complete()), ...moved(elsewhere, isLocked)], withoutHolding);
  });

  describe.each(moving)("while the instruction is in reassignment: %o", (options) => {
    const elements = [...complete().filter((one) => !isInstruction(one)), ...moved(options, isInstruction)];
    each(elements, () => refused(409, "being reassigned"));
  });

  describe("an instruction that is not known", () => {
    each(
      complete().filter((one) => !isInstruction(one)),
      () => refused(404, "is not known here"),
    );
  });

  describe("an instruction of another registrar that is served", () => {
    const ofOther = JSON.parse(
      JSON.stringify(instructions).replaceAll(parties.registrar, "registrar-2::1220"),
    ) as JsonObject[];
    const factory = element("AllocationFactory", "other", payload.service({ registrar: "registrar-2::1220" }));
    each(
      [...groupElements("").filter(isService), ...partyElements, ...ofOther, factory],
      () => refused(404, "is not known here"),
      exits.filter(({ name }) => /transfer|allocation/.test(name)),
    );
  });

  test("a contract of another template is not an instruction", async () => {
    for (const id of ["allocation", "burn-request", "locked", "usd"])
      expect(await ask(complete(), onTransfer("v1", "reject", id))).toEqual(refused(404, id));
  });

  test.each([
    ["of many inputs of a transfer the first alone is the locked holding", ["locked", "second"], ["locked"]],
    ["a transfer without inputs has no locked holding", [], []],
  ])("%s", async (_what, inputHoldingCids, disclosed) => {
    const { transfer, ...others } = payload.offer("alice", "bob", "USD", "locked");
    const argument = { ...others, transfer: { ...(transfer as JsonObject), inputHoldingCids } };
    const second = element("Holding", "second", payload.lockedHolding("alice", "USD"));
    const elements = [...complete(), element("TransferOffer", "it", argument), second];
    expect(await ask(elements, onTransfer("v2", "withdraw", "it"))).toMatchObject({ values: {}, disclosed });
    expect(keysOf(await ask(elements, onTransfer("v2", "reject", "it")))).toEqual([ENABLED]);
  });
});
