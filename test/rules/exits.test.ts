/**
 * Reject, withdraw and cancel must always be possible: they fail only for an instruction that is not known, and where it or
 * its locked holding is in reassignment.
 */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import { onTransfer } from "../fixtures/calls/operations.js";
import { element, type Options, parties, payload } from "../fixtures/elements.js";
import { refused, rulesOn } from "../fixtures/rules.js";
import { complete, ENABLED, groupElements, onInstructions, partyElements, type Row, without } from "./table.js";

const exits = onInstructions.filter(({ name }) => /reject|withdraw|cancel/.test(name));
const locks = ({ disclosed }: Row): boolean => disclosed.includes("locked");

const isInstruction = (one: JsonObject): boolean =>
  /:(TransferOffer|DvpLegAllocation|(Mint|Burn)(Offer|Request))"/.test(JSON.stringify(one));
const isLocked = (one: JsonObject): boolean => JSON.stringify(one).includes('"contractId":"locked"');
const isService = (one: JsonObject): boolean => !isInstruction(one) && !isLocked(one);
const [instructions, locked] = [complete().filter(isInstruction), complete().filter(isLocked)];
const moved = (options: Options, select: (one: JsonObject) => boolean): JsonObject[] =>
  groupElements("", {}, {}, options).filter(select);

const moving: readonly Options[] = [{ moving: "unassigned" }, { moving: "arriving" }];
const elsewhere: Options = { synchronizerId: "sync-B" };
const lapsed = payload.credential("alice", ["holds=USD", "issues=USD"], { validUntil: "2026-05-31T00:00:00Z" });

const whole = ({ keys, disclosed }: Row) => ({ keys, disclosed });
const withoutHolding = ({ keys }: Row) => ({ keys, disclosed: [] });
const isReassigned = (row: Row) => (locks(row) ? refused(409, "locked", "being reassigned") : whole(row));

const ofOther = JSON.parse(
  JSON.stringify(instructions).replaceAll(parties.registrar, "registrar-2::1220"),
) as JsonObject[];
const otherFactory = element("AllocationFactory", "other", payload.service({ registrar: "registrar-2::1220" }));

describe.each<[string, readonly JsonObject[], (row: Row) => object]>([
  // The service is only read, so its synchronizer does not matter.
  ...[...moving, elsewhere].map((options): [string, JsonObject[], typeof whole] => [
    `with all else than instruction and holding in ${JSON.stringify(options)}`,
    [...instructions, ...locked, ...moved(options, isService)],
    whole,
  ]),
  ["with nothing but the instruction", instructions, () => ({ keys: [], disclosed: [] })],
  ["with credentials that have lapsed", [...groupElements(""), element("Credential", "lapsed", lapsed)], whole],
  ...moving.flatMap((options): [string, JsonObject[], (row: Row) => object][] => [
    [
      `while the locked holding is ${options.moving}`,
      [...without("locked", complete()), ...moved(options, isLocked)],
      isReassigned,
    ],
    [
      `while the instruction is ${options.moving}`,
      [...complete().filter((one) => !isInstruction(one)), ...moved(options, isInstruction)],
      () => refused(409, "being reassigned"),
    ],
  ]),
  [
    "with a locked holding on another synchronizer",
    [...without("locked", complete()), ...moved(elsewhere, isLocked)],
    withoutHolding,
  ],
  [
    "with an instruction that is not known",
    complete().filter((one) => !isInstruction(one)),
    () => refused(404, "is not known here"),
  ],
  [
    "with an instruction of another registrar that is served",
    [...groupElements("").filter(isService), ...partyElements, ...ofOther, otherFactory],
    // The path of the others names no registrar.
    (row) =>
      /transfer|allocation/.test(row.name) ? refused(404, "is not known here") : withoutHolding({ ...row, keys: [] }),
  ],
])("%s", (_what, elements, outcome) => {
  const rules = rulesOn(elements);

  test.each(exits)("$name", async (row) => {
    const answer = await rules.ask(row.call);
    const { values, disclosed } = answer as { values?: JsonObject; disclosed?: unknown };
    expect(values === undefined ? answer : { keys: Object.keys(values), disclosed }).toEqual(outcome(row));
  });
});

test.each([
  ["of many inputs of a transfer the first alone is the locked holding", ["locked", "second"], ["locked"]],
  ["a transfer without inputs has no locked holding", [], []],
])("%s", async (_what, inputHoldingCids, disclosed) => {
  const { transfer, ...others } = payload.offer("alice", "bob", "USD", "locked");
  const argument = { ...others, transfer: { ...(transfer as JsonObject), inputHoldingCids } };
  const second = element("Holding", "second", payload.lockedHolding("alice", "USD"));
  const rules = rulesOn([...complete(), element("TransferOffer", "it", argument), second]);
  expect(await rules.ask(onTransfer("v2", "withdraw", "it"))).toEqual({ values: {}, disclosed });
  expect((await rules.context(onTransfer("v2", "reject", "it"))).keys).toEqual([ENABLED]);
});
