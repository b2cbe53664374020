/** Updates of a deployed Registry Utility: our contexts have the entries with which the choices were exercised; decoding. */
import { describe, expect, test } from "vitest";
import { isStored } from "../../src/domain/contract.js";
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { Decoder } from "../../src/ledger/decode.js";
import type { TableFields } from "../../src/registry/engine/templates.js";
import { holding, templates } from "../../src/registry/utility/templates.js";
import { createIssuance, onIssuance, onTransfer, transferFactory } from "../fixtures/calls/operations.js";
import type { Call } from "../fixtures/protocols.js";
import { type RulesOptions, rulesOn } from "../fixtures/rules.js";
import { isBare, isDropped, readContext, WITH_ALL, WITH_BARE_NAMES } from "./contexts.js";
import { type ExercisedEvent, hasEvidence, ledgerEffects, type RecordedUpdate, transactionOf } from "./evidence.js";
import {
  activeBefore,
  contextOf,
  contractIdsIn,
  creationsOf,
  exerciseIn,
  exercisesOf,
  recordedElement,
  unseenContracts,
} from "./load-ledger.js";

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

/** Every recorded creation: update, template, and whether the store keeps it, counts it or ignores it. */
const creations: readonly [update: number, template: string, kept: "stored" | "counted" | "ignored"][] = [
  [0, "Holding", "counted"],
  [0, "ExecutedMint", "ignored"],
  [1, "Holding", "stored"],
  [1, "Holding", "counted"],
  [1, "TransferOffer", "stored"],
  [2, "Holding", "counted"],
  [2, "ExecutedTransfer", "ignored"],
  [3, "Holding", "stored"],
  [3, "TransferOffer", "stored"],
  [4, "Holding", "counted"],
  [4, "ExecutedTransfer", "ignored"],
  [5, "Holding", "stored"],
  [5, "BurnRequest", "stored"],
  [6, "ExecutedBurn", "ignored"],
];

/** In units of 10^-10: 1000; 500 locked, 616; 500; 400 locked; 400; 1016 locked. */
const amounts = [1000n, 500n, 616n, 500n, 400n, 400n, 1016n].map((amount) => amount * 10n ** 10n);

const recorded = () =>
  ledgerEffects().flatMap((update, index) =>
    creationsOf(update).map((created) => ({
      index,
      created,
      decoded: new Decoder(templates, true).decode(recordedElement(created, update))?.contract,
    })),
  );

describe.skipIf(!hasEvidence)("recorded contracts (skipped without the recordings)", () => {
  test("decode, or are of templates that no rule needs", () => {
    const found = recorded().map(({ index, created, decoded }) => {
      const kept = decoded === undefined ? "ignored" : isStored(decoded) ? "stored" : "counted";
      return [index, created.templateId.split(":")[2], kept];
    });
    expect(found).toEqual(creations);
  });

  test("keep id, template, payload, time and synchronizer", () => {
    for (const { created, decoded } of recorded()) {
      if (decoded === undefined || !isStored(decoded)) continue;
      const { contractId, templateId, createdAt, createArgument } = created;
      expect(decoded).toMatchObject({ contractId, templateId, createdAt, reassignmentCounter: 0 });
      expect(JSON.parse(decoded.body.payload)).toEqual(createArgument);
      expect(decoded.synchronizerId).toMatch(/^global-domain::1220458886f67bf9/);
    }
  });

  test("count with their amounts, locked or not", () => {
    const supplies = recorded().flatMap(({ decoded }) => decoded?.supply?.amount ?? []);
    expect(supplies).toEqual(amounts);
  });

  test("have the parties, the instrument and the locked holding that the rules read", () => {
    const instructions = recorded().flatMap(({ index, decoded }) => {
      if (decoded === undefined || !isStored(decoded) || decoded.template === holding) return [];
      const { registrar, instruments, roles, refs } = decoded.fields as TableFields;
      const named = ["provider", "sender", "receiver", "holder"].map((role) => roles[role]?.join(" "));
      const parties = [registrar, ...named].map((party) => party?.split("::")[0]);
      return [[index, ...instruments, refs["locked"]?.join(" ").slice(0, 8), ...parties]];
    });
    const [registrar, provider] = ["test-registrar", "test-provider"];
    expect(instructions).toEqual([
      [1, "LOAD", "00619815", registrar, provider, "test-sender", "test-receiver", undefined],
      [3, "LOAD", "003999df", registrar, provider, "test-receiver", "test-sender", undefined],
      [5, "LOAD", "0027bd11", registrar, provider, undefined, undefined, "test-sender"],
    ]);
  });
});
