/** Our contexts have the entries of the contexts with which recorded choices were exercised. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { serving } from "../fixtures/registries.js";
import type { ServeOptions } from "../fixtures/run-service.js";
import { readContext } from "./answer.js";
import { isBare, isDropped, WITH_ALL, WITH_BARE_NAMES } from "./earlier-contexts.js";
import { hasEvidence, ledgerEffects, transactionOf } from "./evidence.js";
import { activeBefore, contextOf, contractIdsIn, exercisesOf } from "./reconstruct.js";
import { type RecordedChoice, recordedChoices } from "./recorded-choices.js";
import { exerciseIn, unseenContracts } from "./registry-of-load.js";

const transfers = recordedChoices.filter(({ choice }) => choice === "TransferFactory_Transfer");
const burns = recordedChoices.filter(({ choice }) => choice === "AllocationFactory_RequestBurn");
const accepts = recordedChoices.filter(({ choice }) => choice === "TransferInstruction_Accept");

/** Serves the contracts that stood before a choice, at its time, and asks what its caller had asked. */
async function ask({ choice, update: index, request }: RecordedChoice, options: ServeOptions = WITH_BARE_NAMES) {
  const updates = ledgerEffects();
  const exercise = exerciseIn(updates, index, choice);
  const { choiceArgument } = exerciseIn(updates, 1, "TransferFactory_Transfer");
  const { expectedAdmin: registrar } = choiceArgument as { readonly expectedAdmin: string };
  const elements = activeBefore(updates, index, unseenContracts(updates));
  const [now] = updates.slice(index).map((update) => transactionOf(update).effectiveAt);
  const running = await serving(elements, { ...options, ...(now === undefined ? {} : { now }) });
  const { path, body } = request(exercise, registrar);
  const answer = await running.post(path, body);
  expect(answer).toMatchObject({ status: 200 });
  const context = readContext(answer.body);
  return { updates, exercise, ...context, disclosed: context.disclosed.map(({ contractId }) => contractId) };
}

const withoutDropped = (values: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !isDropped(key)));

const withoutBare = (values: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !isBare(key)));

const idsIn = (values: JsonObject): string[] => [...new Set(Object.values(values).flatMap(contractIdsIn))];

const sorted = (ids: readonly string[]): string[] => ids.toSorted((a, b) => (a < b ? -1 : 1));

describe.skipIf(!hasEvidence)("choices of a deployed Registry Utility (skipped without the recordings)", () => {
  test("are all asked for, but the one that only another choice exercises", () => {
    const shown = ledgerEffects().flatMap((of, update) => exercisesOf(of).map(({ choice }) => ({ choice, update })));
    expect(shown.filter(({ choice }) => choice !== "TransferRule_Transfer")).toEqual(
      recordedChoices.map(({ choice, update }) => ({ choice, update })),
    );
  });

  const named = recordedChoices.map(
    (recorded) => [`${recorded.choice} in update ${recorded.update}`, recorded] as const,
  );
  describe.each(named)("%s", (_, recorded) => {
    test("our context has each recorded entry but the dropped", async () => {
      const { exercise, values } = await ask(recorded);
      const kept = withoutDropped(contextOf(exercise));
      expect(Object.keys(kept)).not.toEqual([]);
      expect(values).toMatchObject(kept);
      expect(Object.keys(values).filter(isDropped)).toEqual([]);
    });

    test("by default our context has the recorded entries with a prefix alone", async () => {
      const { exercise, values } = await ask(recorded, {});
      expect(values).toMatchObject(withoutBare(withoutDropped(contextOf(exercise))));
      expect(Object.keys(values).filter(isBare)).toEqual([]);
    });

    test("with rewards our context has each recorded entry", async () => {
      const { exercise, values } = await ask(recorded, WITH_ALL);
      expect(values).toMatchObject(contextOf(exercise));
    });

    test("our answer discloses what the recorded context and choice refer to", async () => {
      const { updates, exercise, disclosed } = await ask(recorded);
      const referred = idsIn(withoutDropped(contextOf(exercise)));
      expect(sorted(disclosed)).toEqual(sorted([...referred, ...recorded.besides(updates)]));
    });
  });

  test.each([...transfers, ...burns])(
    "the factory of $choice is the one on which it was exercised",
    async (recorded) => {
      const { exercise, factoryId } = await ask(recorded);
      expect(factoryId).toBe(exercise.contractId);
    },
  );

  test.each(transfers)("the transfer that ended pending is an offer", async (recorded) => {
    const { exercise, transferKind } = await ask(recorded);
    expect(exercise.exerciseResult).toMatchObject({ output: { tag: "TransferInstructionResult_Pending" } });
    expect(transferKind).toBe("offer");
  });

  test.each(accepts)("the rule of update $update used the contracts of our entries", async (recorded) => {
    const { updates, values } = await ask(recorded, WITH_ALL);
    const rule = exerciseIn(updates, recorded.update, "TransferRule_Transfer");
    const ids = (entry: string) => contractIdsIn(values[`utility.digitalasset.com/${entry}`]);
    expect(ids("transfer-rule")).toEqual([rule.contractId]);
    expect(rule.choiceArgument).toMatchObject({
      instrumentConfigurationCid: ids("instrument-configuration")[0],
      senderCredentialCids: ids("sender-credentials"),
      receiverCredentialCids: ids("receiver-credentials"),
      appRewardConfigurationCid: ids("app-reward-configuration")[0],
    });
  });
});
