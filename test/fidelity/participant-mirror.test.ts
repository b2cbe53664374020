/** The mirror of a recorded participant: what it holds in the end. The scripted participant has its errors, and the simulation uses them. */
import { describe, expect, onTestFinished, test } from "vitest";
import { bodyOf } from "../../src/domain/contract.js";
import type { JsonObject, JsonValue } from "../../src/util/json.js";
import { until } from "../fixtures/wait.js";
import { type RunningMirror, startMirror } from "../ingest/mirror/run-mirror.js";
import { type CreatedEvent, exchange, participantRecording, type RecordedUpdate, transactionOf } from "./recordings.js";
import { type HttpAnswer, type Replay, replay, type ReplayRequest, type StreamAnswer } from "./replay.js";

/** A participant of recorded answers. Tests replace its state while a mirror follows it. */
interface State {
  /** The ledger's end. */
  end: number;
  /** Streams deliver the recorded updates up to here. */
  delivered: number;
  activeContracts: (request: ReplayRequest) => StreamAnswer;
  updates: (request: ReplayRequest, state: State) => StreamAnswer;
}

const stream = (name: string): StreamAnswer => exchange(participantRecording().ws, name);
const recorded = (name: string): HttpAnswer => exchange(participantRecording().http, name);
const closed = { code: 1000, reason: "" };

/** The recorded updates after the requested offset. Without a requested end the stream stays open. */
function liveUpdates({ body }: ReplayRequest, { delivered }: State): StreamAnswer {
  const { beginExclusive, endInclusive } = body as { readonly beginExclusive: number; readonly endInclusive?: number };
  const { messages } = stream("updates, live, with an idle time");
  const updates = messages as readonly RecordedUpdate[];
  const inRange = updates.filter((update) => {
    const { offset } = transactionOf(update);
    return offset > beginExclusive && offset <= delivered;
  });
  return { messages: inRange, ...(endInclusive === undefined ? {} : { close: closed }) };
}

/** The recorded active contracts at offset 39; none at the offset before the first creation. */
function contractsAt({ body }: ReplayRequest): StreamAnswer {
  const { activeAtOffset } = body as { readonly activeAtOffset: number };
  if (activeAtOffset === 39) return stream("active contracts");
  if (activeAtOffset === 24) return { messages: [], close: closed };
  throw new Error(`the recording has no active contracts at offset ${activeAtOffset}`);
}

interface Mirrored {
  readonly participant: Replay;
  readonly mirror: RunningMirror;
  readonly state: State;
}

/** Limits that no test reaches: what is not ready with them is so at once. */
const NEVER = { unreadyAfter: 3_600_000, staleAfter: 7_200_000 };

/** Mirrors a participant whose ledger ends at offset 39, unless the state says otherwise. */
async function mirrored(changes: Partial<State> = {}): Promise<Mirrored> {
  const state: State = {
    end: 39,
    delivered: 34,
    activeContracts: contractsAt,
    updates: liveUpdates,
    ...changes,
  };
  const { messages } = stream("updates, bounded");
  const participant = await replay({
    stream: (request) =>
      request.path === "/v2/updates" ? state.updates(request, state) : state.activeContracts(request),
    http({ path, body }) {
      if (path === "/v2/state/ledger-end") return { ...recorded("ledger end"), response: { offset: state.end } };
      if (path === "/v2/state/latest-pruned-offsets") return recorded("pruned offsets");
      const { updateId } = body as { readonly updateId: string };
      const update = (messages as readonly RecordedUpdate[]).find((each) => transactionOf(each).updateId === updateId);
      if (update === undefined) return recorded("update by id, unknown");
      return { ...recorded("update by id"), response: update };
    },
  });
  const mirror = startMirror(participant.url.href, ["registrar::1220"], undefined, NEVER);
  onTestFinished(() => mirror.stop());
  return { participant, mirror, state };
}

/** A mirror that began before the first creation and has applied all delivered updates: it is ready. */
async function following(delivered: number): Promise<Mirrored> {
  const all = await mirrored({ end: 24, delivered });
  await reaches(all.mirror, delivered);
  all.state.end = delivered;
  await until("it is ready", () => all.mirror.lag.notReadyReason() === undefined);
  return all;
}

const reaches = (mirror: RunningMirror, offset: number): Promise<void> =>
  until(`the mirror is at offset ${offset}`, () => mirror.lag.status.offset === offset);

const logs = (mirror: RunningMirror, text: string): Promise<void> =>
  until(`"${text}" is logged`, () => mirror.logged.some((line) => line.includes(text)));

const snapshots = ({ logged }: RunningMirror): number =>
  logged.filter((line) => line.includes("snapshot of the ledger loaded")).length;

/** What the store holds, in the fields of a created event. */
async function heldBy(mirror: RunningMirror): Promise<readonly JsonObject[]> {
  const held = [...(await mirror.held()).values()].toSorted((a, b) => a.createdMicros - b.createdMicros);
  return held.map((contract) => {
    const { contractId, templateId, createdAt, synchronizerId = null } = contract;
    const { payload, createdEventBlob } = bodyOf(contract);
    const createArgument = JSON.parse(payload) as JsonValue;
    return { contractId, templateId, createArgument, createdEventBlob, createdAt, synchronizerId };
  });
}

/** The recorded active contracts in the same fields: a factory and a credential. */
function activeInRecording(): readonly JsonObject[] {
  return stream("active contracts").messages.map((message) => {
    const { contractEntry } = message as {
      readonly contractEntry: { readonly JsActiveContract: { createdEvent: CreatedEvent; synchronizerId: string } };
    };
    const { createdEvent, synchronizerId } = contractEntry.JsActiveContract;
    const { contractId, templateId, createArgument, createdEventBlob = "", createdAt } = createdEvent;
    return { contractId, templateId, createArgument, createdEventBlob, createdAt, synchronizerId };
  });
}

describe("a mirror of a recorded participant", () => {
  test("holds the active contracts after a snapshot", async () => {
    const { mirror } = await mirrored();
    await reaches(mirror, 39);
    expect(activeInRecording()).toHaveLength(2);
    expect(await heldBy(mirror)).toEqual(activeInRecording());
    expect(mirror.lag.notReadyReason()).toBeUndefined();
  });

  test("holds the same contracts after the updates that created and archived them", async () => {
    const { mirror } = await mirrored({ end: 24 });
    await reaches(mirror, 34);
    expect(await heldBy(mirror)).toEqual(activeInRecording());
  });

  test("resumes after the last update when the participant is killed", async () => {
    const { mirror, participant, state } = await following(28);
    expect((await heldBy(mirror)).map(({ templateId }) => templateId)).toEqual([
      expect.stringMatching(/:AllocationFactory$/),
      expect.stringMatching(/:Credential$/),
      expect.stringMatching(/:Holding$/),
    ]);
    const asked: JsonValue[] = [];
    state.updates = (request) => {
      asked.push((request.body as { beginExclusive: number }).beginExclusive);
      return liveUpdates(request, state);
    };
    Object.assign(state, { end: 39, delivered: 34 });
    participant.cut();
    await logs(mirror, "following the ledger again");
    expect(asked[0]).toBe(28);
    expect(mirror.logged.join("\n")).toContain("close code 1006");
    expect(snapshots(mirror)).toBe(1);
    expect(await heldBy(mirror)).toEqual(activeInRecording());
  });
});
