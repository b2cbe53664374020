/** Updates of a deployed Registry Utility: our contexts have the entries with which the choices were exercised. */
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { createIssuance, onIssuance, onTransfer, transferFactory } from "../fixtures/calls/operations.js";
import type { Call } from "../fixtures/protocols.js";
import { type RulesOptions, rulesOn } from "../fixtures/rules.js";
import { isBare, isDropped, readContext, WITH_ALL, WITH_BARE_NAMES } from "./contexts.js";
import { type ExercisedEvent, ledgerEffects, type RecordedUpdate, transactionOf } from "./recordings.js";
import { activeBefore, contextOf, contractIdsIn, exerciseIn, exercisesOf, unseenContracts } from "./load-ledger.js";

/** The recorded choices, each with the request that its caller had sent to the registry's backend. */
interface RecordedChoice {
  readonly choice: string;
  /** Index of its update in the recording. */
  readonly update: number;
  readonly request: (exercise: ExercisedEvent, registrar: string) => Call;
  /** Contract ids that the choice used besides those of its context: its factory, or the holding that it unlocked. */
  readonly besides: (updates: readonly RecordedUpdate[]) => readonly string[];
}

/** The recorded arguments, with the context empty, as it was before the caller had one. */
const startTransfer = ({ choiceArgument }: ExercisedEvent, registrar: string): Call => {
  const extraArgs = { context: { values: {} }, meta: { values: {} } };
  return transferFactory("v1", { choiceArguments: { ...choiceArgument, extraArgs } }, registrar);
};
const acceptTransfer = ({ contractId }: ExercisedEvent, registrar: string): Call =>
  onTransfer("v1", "accept", contractId, registrar);

/** The body names what the arguments of the choice name. */
function requestBurn({ choiceArgument }: ExercisedEvent): Call {
  const { burn, holdingCids: holdingContractIds } = choiceArgument as {
    readonly burn: { readonly holder: string; readonly instrumentId: JsonObject };
    readonly holdingCids: JsonValue;
  };
  const { holder, instrumentId } = burn;
  return { ...createIssuance("burn", "request", holder), body: { holder, instrumentId, holdingContractIds } };
}

/** The holding that the choices of an update archived first: it was locked for them. */
function unlockedIn(update: RecordedUpdate | undefined): string[] {
  const exercised =
    update === undefined ? [] : transactionOf(update).events.map(({ ExercisedEvent }) => ExercisedEvent);
  return [exercised.find((event) => event?.choice === "Archive")?.contractId ?? "none is archived"];
}

/** The fourth update shows no choice: it was exercised on another participant. */
const recordedChoices: readonly RecordedChoice[] = [
  {
    choice: "MintRequest_Accept",
    update: 0,
    request: ({ contractId }) => onIssuance("mint", "request", "accept", contractId),
    besides: () => [],
  },
  {
    choice: "TransferFactory_Transfer",
    update: 1,
    request: startTransfer,
    besides: (updates) => [exerciseIn(updates, 1, "TransferFactory_Transfer").contractId],
  },
  {
    choice: "TransferInstruction_Accept",
    update: 2,
    request: acceptTransfer,
    besides: (updates) => unlockedIn(updates[2]),
  },
  {
    choice: "TransferInstruction_Accept",
    update: 4,
    request: acceptTransfer,
    besides: (updates) => unlockedIn(updates[4]),
  },
  {
    choice: "AllocationFactory_RequestBurn",
    update: 5,
    request: requestBurn,
    besides: (updates) => [exerciseIn(updates, 5, "AllocationFactory_RequestBurn").contractId],
  },
  {
    choice: "BurnRequest_Accept",
    update: 6,
    request: ({ contractId }) => onIssuance("burn", "request", "accept", contractId),
    besides: (updates) => unlockedIn(updates[6]),
  },
];

const transfers = recordedChoices.filter(({ choice }) => choice === "TransferFactory_Transfer");
const burns = recordedChoices.filter(({ choice }) => choice === "AllocationFactory_RequestBurn");
const accepts = recordedChoices.filter(({ choice }) => choice === "TransferInstruction_Accept");

/** Asks, of the contracts that stood before a choice, at its time, what its caller had asked. */
async function ask({ choice, update: index, request }: RecordedChoice, options: RulesOptions = WITH_BARE_NAMES) {
  const updates = ledgerEffects();
  const exercise = exerciseIn(updates, index, choice);
  const { choiceArgument } = exerciseIn(updates, 1, "TransferFactory_Transfer");
  const { expectedAdmin: registrar } = choiceArgument as { readonly expectedAdmin: string };
  const elements = activeBefore(updates, index, unseenContracts(updates));
  const [now = ""] = updates.slice(index).map((update) => transactionOf(update).effectiveAt);
  const context = readContext(await rulesOn(elements, { ...options, now }).body(request(exercise, registrar)));
  return { updates, exercise, ...context, disclosed: context.disclosed.map(({ contractId }) => contractId) };
}

const withoutDropped = (values: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !isDropped(key)));

const withoutBare = (values: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !isBare(key)));

const idsIn = (values: JsonObject): string[] => [...new Set(Object.values(values).flatMap(contractIdsIn))];

const sorted = (ids: readonly string[]): string[] => ids.toSorted((a, b) => (a < b ? -1 : 1));

describe("choices of a deployed Registry Utility", () => {
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
