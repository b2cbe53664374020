/** Contexts of transfers on MainNet in May 2026, Registry App 0.12: the service gives what the published backend gave. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json.js";
import { onTransfer, transferFactory } from "../fixtures/calls/operations.js";
import { rulesOn } from "../fixtures/rules.js";
import { readContext } from "./contexts.js";
import { read } from "./recordings.js";

interface Recording {
  /** The context that the backend gave for each accept. */
  readonly acceptContext: JsonObject;
  readonly registrar: string;
  /** Elements of active contracts. The last four are set up by hand: the recorder did not see these contracts. */
  readonly contracts: readonly JsonObject[];
  readonly transactionTrees: readonly { readonly eventsById: Readonly<Record<string, TreeEvent>> }[];
}

interface TreeEvent {
  readonly ExercisedTreeEvent?: {
    readonly value: { readonly choice: string; readonly contractId: string; readonly choiceArgument: JsonObject };
  };
}

const recording = (): Recording => read("utility-mainnet-2026-05.json") as Recording;

const templateOf = (element: JsonObject): string =>
  /"templateId":"[^:]+:[^:]+:([^"]+)"/.exec(JSON.stringify(element))?.[1] ?? "";
const contractIdOf = (element: JsonObject): string => /"contractId":"([^"]+)"/.exec(JSON.stringify(element))?.[1] ?? "";

const exercisesOf = ({ transactionTrees }: Recording, choice: string) =>
  transactionTrees
    .flatMap(({ eventsById }) => Object.values(eventsById))
    .flatMap(({ ExercisedTreeEvent: exercised }) => (exercised?.value.choice === choice ? [exercised.value] : []));

const offersOf = ({ contracts }: Recording): string[] =>
  contracts.filter((element) => templateOf(element) === "TransferOffer").map(contractIdOf);

const RESULT_CONTRACTS = "utility.digitalasset.com/enable-result-contracts";

describe("transfers on MainNet", () => {
  test("the accept of each offer has the recorded context", async () => {
    const recorded = recording();
    const rules = rulesOn(recorded.contracts);
    const offers = offersOf(recorded);
    expect(offers).toHaveLength(11);
    for (const offer of offers) {
      const body = await rules.body(onTransfer("v1", "accept", offer, recorded.registrar));
      expect(readContext(body).values).toEqual(recorded.acceptContext);
    }
  });

  test("each recorded accept was exercised with that context", () => {
    const recorded = recording();
    const accepts = exercisesOf(recorded, "TransferInstruction_Accept");
    expect(accepts).toHaveLength(8);
    for (const { choiceArgument } of accepts)
      expect(choiceArgument).toMatchObject({ extraArgs: { context: { values: recorded.acceptContext } } });
  });

  test("without a RegistrarService the entry enable-result-contracts is left out", async () => {
    const recorded = recording();
    const rules = rulesOn(recorded.contracts.filter((element) => templateOf(element) !== "RegistrarService"));
    const { [RESULT_CONTRACTS]: flag, ...others } = recorded.acceptContext;
    expect(flag).toEqual({ tag: "AV_Bool", value: false });
    for (const offer of offersOf(recorded)) {
      const body = await rules.body(onTransfer("v1", "accept", offer, recorded.registrar));
      expect(readContext(body).values).toEqual(others);
    }
  });

  test("the factory of each recorded offer has the context with which it was exercised: two entries", async () => {
    const recorded = recording();
    const rules = rulesOn(recorded.contracts);
    const offers = exercisesOf(recorded, "AllocationFactory_TransferInternal");
    expect(offers).toHaveLength(9);
    for (const { choiceArgument } of offers) {
      const { payload } = choiceArgument as unknown as {
        payload: { extraArgs: { context: { values: JsonObject } } } & JsonObject;
      };
      const extraArgs = { context: { values: {} }, meta: { values: {} } };
      const call = transferFactory("v1", { choiceArguments: { ...payload, extraArgs } }, recorded.registrar);
      const { transferKind, values } = readContext(await rules.body(call));
      expect(transferKind).toBe("offer");
      expect(Object.keys(values)).toHaveLength(2);
      expect(values).toEqual(payload.extraArgs.context.values);
    }
  });

  test("a withdrawal has an empty context, as the recorded one had, and discloses the locked holding alone", async () => {
    const recorded = recording();
    const rules = rulesOn(recorded.contracts);
    const withdrawals = exercisesOf(recorded, "TransferInstruction_Withdraw");
    expect(withdrawals.map(({ choiceArgument }) => choiceArgument)).toEqual([
      { extraArgs: { context: { values: {} }, meta: { values: {} } } },
    ]);
    for (const offer of offersOf(recorded)) {
      const body = await rules.body(onTransfer("v1", "withdraw", offer, recorded.registrar));
      const { values, disclosed } = readContext(body);
      expect(values).toEqual({});
      expect(disclosed.map(({ templateId }) => templateId.split(":").at(-1))).toEqual(["Holding"]);
    }
  });
});
