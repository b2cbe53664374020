/** The recorded choices, each with the request that its caller had sent to the registry's backend. */
import type { JsonObject, JsonValue } from "../../src/domain/json.js";
import { burnAccept, issuance, issuanceChoice, transferChoice, transferFactory } from "../fixtures/requests.js";
import { type ExercisedEvent, type RecordedUpdate, transactionOf } from "./evidence.js";
import { exerciseIn } from "./registry-of-load.js";

export interface Request {
  readonly path: string;
  /** Undefined: sent without a body. */
  readonly body: JsonObject | undefined;
}

export interface RecordedChoice {
  readonly choice: string;
  /** Index of its update in the recording. */
  readonly update: number;
  readonly request: (exercise: ExercisedEvent, registrar: string) => Request;
  /** Contract ids that the choice used besides those of its context: its factory, or the holding that it unlocked. */
  readonly besides: (updates: readonly RecordedUpdate[]) => readonly string[];
}

const acceptTransfer = ({ contractId }: ExercisedEvent, registrar: string): Request => ({
  path: transferChoice("v1", "accept")(contractId, registrar),
  body: { meta: {} },
});

/** The recorded arguments, with the context empty, as it was before the caller had one. */
const startTransfer = ({ choiceArgument }: ExercisedEvent, registrar: string): Request => ({
  path: transferFactory(registrar),
  body: { choiceArguments: { ...choiceArgument, extraArgs: { context: { values: {} }, meta: { values: {} } } } },
});

/** The body names what the arguments of the choice name. */
function requestBurn({ choiceArgument }: ExercisedEvent): Request {
  const { burn, holdingCids } = choiceArgument as {
    readonly burn: { readonly holder: string; readonly instrumentId: JsonObject };
    readonly holdingCids: JsonValue;
  };
  const { holder, instrumentId } = burn;
  return { path: issuance("burn", "request"), body: { holder, instrumentId, holdingContractIds: holdingCids } };
}

/** The holding that the choices of an update archived first: it was locked for them. */
function unlockedIn(update: RecordedUpdate | undefined): string[] {
  const exercised =
    update === undefined ? [] : transactionOf(update).events.map(({ ExercisedEvent }) => ExercisedEvent);
  return [exercised.find((event) => event?.choice === "Archive")?.contractId ?? "none is archived"];
}

/** The fourth update shows no choice: it was exercised on another participant. */
export const recordedChoices: readonly RecordedChoice[] = [
  {
    choice: "MintRequest_Accept",
    update: 0,
    request: ({ contractId }) => ({ path: issuanceChoice("mint", "request", "accept")(contractId), body: undefined }),
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
    request: ({ contractId }) => ({ path: burnAccept(contractId), body: undefined }),
    besides: (updates) => unlockedIn(updates[6]),
  },
];
