/** Past updates and contracts of a real participant, as our look-ups read them. */
import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../src/domain/json.js";
import { ParticipantHistory } from "../../src/ledger/participant/lookups.js";
import { allocationFactory, credential, holding } from "../../src/registry/utility/templates.js";
import { endpointAt } from "../ledger/participant/servers.js";
import { exchange, hasEvidence, participantRecording, type RecordedUpdate, transactionOf } from "./evidence.js";
import { type HttpAnswer, replay } from "./replay.js";

const templates = [allocationFactory, credential, holding];

const recorded = (name: string): HttpAnswer => exchange(participantRecording().http, name);

/**
 * Answers look-ups by id alone: ours ask for no blobs, the recorded ones did. An update is answered with the message in
 * which the stream of ledger effects brought it.
 */
async function historyOf(): Promise<ParticipantHistory> {
  const { messages } = exchange(participantRecording().ws, "updates, ledger effects");
  const updates = messages as readonly RecordedUpdate[];
  const known = contractIdIn(exchange(participantRecording().http, "events by contract id").request);
  const { url } = await replay({
    stream: () => undefined,
    http({ path, body }) {
      if (path === "/v2/events/events-by-contract-id")
        return recorded(contractIdIn(body) === known ? "events by contract id" : "events by contract id, unknown");
      const { updateId } = body as { readonly updateId: string };
      const update = updates.find((each) => transactionOf(each).updateId === updateId);
      if (update === undefined) return recorded("update by id, unknown");
      return { status: 200, contentType: "application/json", response: update };
    },
  });
  const polling = { maxWait: 0, now: Date.now, pause: () => Promise.resolve() };
  return new ParticipantHistory(endpointAt(url), ["registrar::1220"], polling);
}

const contractIdIn = (request: JsonValue): string => (request as { readonly contractId: string }).contractId;

describe.skipIf(!hasEvidence)("past updates of a recorded participant (skipped without the recordings)", () => {
  test("show a contract that is created and archived in one transaction", async () => {
    const history = await historyOf();
    const updateId = "1220fef469e7b071acf3d5973ea77bcb7304879ce188016fc664afc4ac852ac4e39e";
    const update = await history.update({ updateId }, templates);
    expect(update?.events).toMatchObject([
      { does: "create", template: allocationFactory, offset: 31 },
      { does: "exercise", template: allocationFactory, choice: "Archive", argument: {}, consuming: true },
    ]);
    expect(new Set(update?.events.map(({ contractId }) => contractId.slice(0, 8)))).toEqual(new Set(["00094813"]));
  });

  test("show a choice that archives nothing, with its argument", async () => {
    const history = await historyOf();
    const updateId = "12205d99aa20e2c0f7c33c576dd22f9b04d620e19c0272f9dfead5945c40343f83bb";
    const update = await history.update({ updateId }, templates);
    expect(update?.events).toMatchObject([{ does: "exercise", choice: "AllocationFactory_Use", consuming: false }]);
    expect(update?.events).toMatchObject([{ argument: { actor: expect.stringMatching(/^registrar::1220/) } }]);
  });

  test("show two creations in one transaction, with their payloads", async () => {
    const history = await historyOf();
    const updateId = "12209519761cfc7e98cf74227aee272557d2f273676544df304b01370b4a4cc11a71";
    const update = await history.update({ updateId }, templates);
    expect(update?.events).toMatchObject([
      {
        does: "create",
        template: credential,
        payload: { id: 'é "quoted" \u2028', validUntil: "2030-01-01T00:00:00Z" },
      },
      { does: "create", template: holding, payload: { amount: "10.5000000000" } },
    ]);
  });

  test("leave out other templates, and do not have an unknown update", async () => {
    const history = await historyOf();
    const updateId = "12209519761cfc7e98cf74227aee272557d2f273676544df304b01370b4a4cc11a71";
    expect((await history.update({ updateId }, [credential]))?.events).toMatchObject([{ template: credential }]);
    expect(await history.update({ updateId: `1220${"0".repeat(64)}` }, templates)).toBeUndefined();
  });

  test("have the creation of an archived contract, and not of an unknown one", async () => {
    const history = await historyOf();
    const contractId = contractIdIn(exchange(participantRecording().http, "events by contract id").request);
    expect(contractId.slice(0, 8)).toBe("00578e72");
    expect(await history.creation(contractId, templates)).toMatchObject({
      does: "create",
      template: holding,
      offset: 28,
    });
    expect(await history.creation(`00${"1".repeat(136)}`, templates)).toBeUndefined();
  });
});
