/** A participant that has recorded updates, and shows each reader those events that the reader saw. */
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { type CreatedEvent, exchange, participantRecording, read, type TransactionEvent } from "./recordings.js";
import type { LedgerRecording } from "./replayed-ledger.js";
import type { Answers, HttpAnswer } from "./replay.js";

const FILE = "utility-0.12-ledger.json";

interface RecordedEvent {
  readonly event: TransactionEvent;
  /** The parties that saw it; undefined if the recording shows what one party saw. */
  readonly witnesses?: readonly string[] | undefined;
}

export interface LedgerUpdate {
  readonly updateId: string;
  readonly offset: number;
  readonly events: readonly RecordedEvent[];
}

interface RecordedProof {
  readonly name: string;
  readonly updateId: string;
  readonly transfer: JsonObject;
  /** A status of the body, or of HTTP. */
  readonly expect: "Success" | "Pending" | "Failure" | 400;
}

export const utilityProofs = (): readonly RecordedProof[] =>
  (read(FILE) as { readonly proofs: readonly RecordedProof[] }).proofs;

type RecordedStep = { readonly contractId: string; readonly witnesses: readonly string[] } & (
  | { readonly created: string }
  | {
      readonly exercised: string;
      readonly templateId: string;
      readonly consuming: boolean;
      readonly argument: JsonObject;
      readonly result: JsonObject;
    }
);

interface Executed {
  readonly updateId?: string;
  readonly offset: number;
  readonly events: readonly RecordedStep[];
}

type UtilityRecording = Omit<LedgerRecording, "flows"> & {
  readonly flows: readonly Executed[];
  readonly packages: readonly { readonly packageId: string; readonly packageName: string }[];
};

/** The updates of the flows that the ledger accepted. Their parties have short names. */
export function utilityUpdates(): LedgerUpdate[] {
  const { parties, contracts, packages, flows } = read(FILE) as UtilityRecording;
  const packageNames = new Map(packages.map(({ packageId, packageName }) => [packageId, packageName]));
  const created = new Map(contracts.map(({ createdEvent }) => [createdEvent.contractId, createdEvent]));
  return flows.flatMap(({ updateId, offset, events }) => {
    if (updateId === undefined) return [];
    const recorded = events.map((step, nodeId): RecordedEvent => {
      const witnesses = step.witnesses.map((name) => parties[name] ?? name);
      const CreatedEvent = created.get(step.contractId);
      if ("created" in step) return { witnesses, event: CreatedEvent === undefined ? {} : { CreatedEvent } };
      const { contractId, templateId, exercised: choice, consuming, argument, result } = step;
      const packageName = packageNames.get(templateId.split(":", 1).join("")) ?? "";
      const about = { contractId, templateId, packageName, nodeId, offset };
      return {
        witnesses,
        event: {
          ExercisedEvent: { ...about, choice, consuming, choiceArgument: argument, exerciseResult: result },
        },
      };
    });
    return [{ updateId, offset, events: recorded }];
  });
}

interface Tree {
  readonly updateId: string;
  readonly offset: number;
  readonly eventsById: Readonly<
    Record<
      string,
      {
        readonly CreatedTreeEvent?: { readonly value: NonNullable<TransactionEvent["CreatedEvent"]> };
        readonly ExercisedTreeEvent?: { readonly value: NonNullable<TransactionEvent["ExercisedEvent"]> };
      }
    >
  >;
}

/** The transaction trees of MainNet, as one party saw them. */
export function mainNetUpdates(): LedgerUpdate[] {
  const { transactionTrees } = read("utility-mainnet-2026-05.json") as { readonly transactionTrees: readonly Tree[] };
  return transactionTrees.map(({ updateId, offset, eventsById }) => {
    const byNode = Object.entries(eventsById).toSorted(([a], [b]) => Number(a) - Number(b));
    const events = byNode.flatMap(([, { CreatedTreeEvent, ExercisedTreeEvent }]): RecordedEvent[] => {
      if (CreatedTreeEvent !== undefined) return [{ event: { CreatedEvent: CreatedTreeEvent.value } }];
      return ExercisedTreeEvent === undefined ? [] : [{ event: { ExercisedEvent: ExercisedTreeEvent.value } }];
    });
    return { updateId, offset, events };
  });
}

const ok = (response: JsonValue): HttpAnswer => ({ status: 200, contentType: "application/json", response });

/** Answers look-ups with the recorded updates, and errors as another recorded participant does. */
export function participantOf(updates: readonly LedgerUpdate[]): Answers {
  const { http } = participantRecording();
  const unknownUpdate = exchange(http, "update by id, unknown");
  const unknownContract = exchange(http, "events by contract id, unknown");
  const end = Math.max(...updates.map(({ offset }) => offset));
  const creations = updates.flatMap(({ events }) =>
    events.flatMap(({ event: { CreatedEvent }, witnesses }) => (CreatedEvent ? [{ CreatedEvent, witnesses }] : [])),
  );
  return {
    http({ path, body }) {
      if (path === "/v2/state/ledger-end") return ok({ offset: end });
      const { updateId, offset, contractId } = body as JsonObject;
      const isSeen = seenBy(readersIn(body));
      if (path === "/v2/events/events-by-contract-id") {
        const found = creations.find((each) => each.CreatedEvent.contractId === contractId && isSeen(each));
        return found === undefined ? unknownContract : ok(creationOf(found.CreatedEvent));
      }
      const update = updates.find((each) => each.updateId === updateId || each.offset === offset);
      const events = update?.events.filter(isSeen).map(({ event }) => event as JsonObject) ?? [];
      // An update of which a party sees nothing is as unknown as one that does not exist.
      if (update === undefined || events.length === 0) return unknownUpdate;
      return ok({ update: { Transaction: { value: { updateId: update.updateId, offset: update.offset, events } } } });
    },
    stream: ({ path }) =>
      path === "/v2/updates" ? { messages: [] } : { messages: [], close: { code: 1000, reason: "" } },
  };
}

const creationOf = (createdEvent: CreatedEvent): JsonObject => ({
  created: { createdEvent, synchronizerId: "synchronizer-1::1220" },
  archived: null,
});

const seenBy =
  (readers: readonly string[]) =>
  ({ witnesses }: Pick<RecordedEvent, "witnesses">): boolean =>
    witnesses === undefined || witnesses.some((party) => readers.includes(party));

interface LookUp {
  readonly eventFormat?: { readonly filtersByParty: JsonObject };
  readonly updateFormat?: { readonly includeTransactions: Required<Pick<LookUp, "eventFormat">> };
}

/** The parties of the filter of a request. */
function readersIn(body: JsonValue): readonly string[] {
  const { eventFormat, updateFormat } = body as LookUp;
  return Object.keys((eventFormat ?? updateFormat?.includeTransactions.eventFormat)?.filtersByParty ?? {});
}
