/** What is read of a participant while a request waits: a slow participant is not one without holdings. */
import { expect, onTestFinished, test } from "vitest";
import { element, parties, payload } from "../fixtures/elements.js";
import { burnMintFactory, transferV1 } from "../fixtures/requests.js";
import { registry, serveFile } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";
import { groupElements, partyElements } from "../rules/table.js";
import { play } from "../scripted-participant/elements.js";
import { ScriptedLedger } from "../scripted-participant/ledger.js";
import { Participant } from "../scripted-participant/participant.js";

const EVENTS = "/v2/events/events-by-contract-id";
const UPDATE = "/v2/updates/update-by-id";
const provider = "provider-2::1220";
/** Not stored: it has no lock. */
const held = element("Holding", "00aa", payload.lockedHolding("alice", "USD", { lock: null }));

/** A service on a participant, ready, with one group that has USD, or a newer second. */
async function serviceOf(groups: 1 | 2) {
  const ledger = new ScriptedLedger();
  const second = groupElements("-2", { provider }, {}, { createdAt: "2026-02-05T09:00:00.000000Z" });
  const elements = [...groupElements(""), ...partyElements, held, ...(groups === 2 ? second : [])];
  play(ledger, elements, { stakeholders: [parties.operator] });
  const participant = await Participant.start({ ledger });
  onTestFinished(() => participant.stop());
  const config = { ledgerUrl: new URL(participant.url), ledgerParties: [parties.operator] };
  const service = await serveFile(undefined, { config });
  onTestFinished(() => service.close());
  await until("the service is ready", async () => (await service.get("/readyz")).status === 200);
  const transfer = () =>
    service.post(
      `${registry()}/transfer-instruction/v1/transfer-factory`,
      transferV1("alice", "bob", { inputHoldingCids: ["00aa"] }),
    );
  const burn = () =>
    service.post(burnMintFactory, {
      instrumentId: { admin: parties.registrar, id: "USD" },
      inputHoldingCids: ["00aa"],
      outputs: [],
      excludeDebugFields: true,
    });
  return { participant, service, transfer, burn };
}

const inTime = { status: 503, retryAfter: "1", error: expect.stringContaining("input holding 00aa") as string };
const told = ({ status, headers, body }: Awaited<ReturnType<Awaited<ReturnType<typeof serviceOf>>["burn"]>>) => ({
  status,
  retryAfter: headers.get("retry-after"),
  error:
    (body as { error?: string; error_description?: string }).error_description ?? (body as { error?: string }).error,
});

test("a factory that holdings decide is 503 while the participant does not tell them, and then of their group", async () => {
  const { participant, transfer } = await serviceOf(2);
  participant.faults.leaveUnanswered({ path: EVENTS });
  expect(told(await transfer())).toEqual(inTime);
  participant.faults.refuse(503, { path: EVENTS });
  expect(told(await transfer())).toEqual(inTime);
  expect(await transfer()).toMatchObject({ status: 200, body: { factoryId: "factory" } });
});

test("burning what the participant does not tell is 503, and then has the owner's credentials", async () => {
  const { participant, burn } = await serviceOf(1);
  participant.faults.leaveUnanswered({ path: EVENTS });
  expect(told(await burn())).toEqual(inTime);
  participant.faults.hangUp({ path: EVENTS });
  expect(told(await burn())).toEqual(inTime);
  expect(JSON.stringify(await burn())).toContain("alice-issues");
});

test("a factory that no holding decides is answered at once", async () => {
  const { participant, transfer } = await serviceOf(1);
  participant.faults.leaveUnanswered({ path: EVENTS });
  expect(await transfer()).toMatchObject({ status: 200, body: { factoryId: "factory" } });
  expect(participant.requests.filter(({ path }) => path === EVENTS)).toEqual([]);
});

test("a transfer is neither proved nor denied while the participant does not tell its update", async () => {
  const { participant, service } = await serviceOf(1);
  const prove = () =>
    service.post("/api/utilities/v0/registry/transfer/v0/proof", {
      updateId: `1220${"1".repeat(64)}`,
      transfer: { ...(transferV1("alice", "bob").choiceArguments as { transfer: object }).transfer },
    });
  participant.faults.hangUp({ path: UPDATE });
  expect(await prove()).toMatchObject({ status: 503 });
  expect(await prove()).toMatchObject({ status: 400 });
});
