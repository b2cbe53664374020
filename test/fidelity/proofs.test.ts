/** Recorded transfers, proved by the service on a participant that has their updates. */
import { describe, expect, onTestFinished, test } from "vitest";
import { startApp } from "../../src/app/app.js";
import type { JsonObject } from "../../src/util/json.js";
import { unverifiedBody } from "../ledger/participant/proof/proof-service.js";
import { quiet } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";
import { utilityLedger } from "./replayed-ledger.js";
import { type LedgerUpdate, mainNetUpdates, participantOf, utilityProofs, utilityUpdates } from "./recorded-updates.js";
import { replay } from "./replay.js";

type Prove = (updateId: string | undefined, transfer: JsonObject | undefined) => Promise<unknown>;

/** Starts the service. Returns a function that gives the status of a proof, or 400 if it cannot be verified. */
async function proving(updates: readonly LedgerUpdate[], ledgerParties: readonly string[]): Promise<Prove> {
  const { url: ledgerUrl } = await replay(participantOf(updates));
  const service = await startApp({ ...quiet(), ledgerUrl, ledgerParties, readWaitMs: 1, graceSeconds: 1 });
  onTestFinished(() => service.close());
  await until("the service is ready", async () => (await fetch(`${service.url}/readyz`)).ok);
  return async (updateId = "", transfer = {}) => {
    const response = await fetch(`${service.url}/api/utilities/v0/registry/transfer/v0/proof`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ updateId, transfer }),
    });
    const body = (await response.json()) as { readonly status?: string };
    if (response.status === 200) return body.status;
    expect(body).toEqual(unverifiedBody);
    return response.status;
  };
}

describe("the proof of a transfer with Registry App 0.12", () => {
  test.each([
    ["the operator", ["operator"]],
    ["registrar and provider", ["registrar", "provider"]],
    ["the registrar", ["registrar"]],
  ])("is as expected, read as %s", async (_, names) => {
    const { parties } = utilityLedger();
    // One set of flows has a registrar of its own.
    const readers = Object.entries(parties).filter(([name]) => names.includes(name.replace(/\d$/, "")));
    const prove = await proving(
      utilityUpdates(),
      readers.map(([, party]) => party),
    );
    const proofs = utilityProofs();
    const found = [];
    for (const { name, updateId, transfer } of proofs) found.push([name, await prove(updateId, transfer)]);
    expect(found).toEqual(proofs.map((proof) => [proof.name, proof.expect]));
    expect(found).toHaveLength(28);
  });
});

/** The choice of an update that has one of the names; undefined if none has. */
const choiceIn = ({ events }: LedgerUpdate, choice: string) =>
  events.find(({ event }) => event.ExercisedEvent?.choice === choice)?.event.ExercisedEvent;

type Transfers = JsonObject & { readonly transfer: JsonObject };

/** The payer's transfer in an update that offers it. */
const offeredIn = (update: LedgerUpdate): JsonObject | undefined =>
  (
    choiceIn(update, "AllocationFactory_TransferInternal")?.choiceArgument as
      | { readonly payload: Transfers }
      | undefined
  )?.payload.transfer;

interface End {
  readonly status: string;
  /** The payer's transfer and the offer's, which names the locked holding. */
  readonly transfers: readonly (JsonObject | undefined)[];
}

/** How the update ends an offer; undefined if it ends none. */
function endIn(update: LedgerUpdate, updates: readonly LedgerUpdate[]): End | undefined {
  const choices = { TransferInstruction_Accept: "Success", TransferInstruction_Withdraw: "Failure" };
  for (const [choice, status] of Object.entries(choices)) {
    const offerId = choiceIn(update, choice)?.contractId;
    const isOffer = ({ CreatedEvent }: LedgerUpdate["events"][number]["event"]) => CreatedEvent?.contractId === offerId;
    const origin = updates.find(({ events }) => offerId !== undefined && events.some(({ event }) => isOffer(event)));
    const offer = origin?.events.find(({ event }) => isOffer(event))?.event.CreatedEvent?.createArgument;
    if (origin === undefined) continue;
    return { status, transfers: [offeredIn(origin), (offer as Transfers | undefined)?.transfer] };
  }
  return undefined;
}

describe("the proof of a transfer on MainNet", () => {
  test("is as the choices of its tree say, and 400 for any other tree or transfer", async () => {
    const updates = mainNetUpdates();
    const prove = await proving(updates, ["party-1::1220"]);
    const transfers = updates.map(offeredIn).filter((transfer) => transfer !== undefined);
    const found: Record<string, number> = {};
    for (const update of updates) {
      const { updateId } = update;
      const end = endIn(update, updates);
      const offered = offeredIn(update);
      const expected = end?.status ?? (offered === undefined ? 400 : "Pending");
      const asked = end?.transfers ?? [offered ?? transfers[0]];
      for (const transfer of asked) expect(await prove(updateId, transfer)).toBe(expected);
      const other = transfers.find((transfer) => !asked.includes(transfer));
      expect(await prove(updateId, other)).toBe(400);
      found[expected] = (found[expected] ?? 0) + 1;
    }
    expect(found).toEqual({ Pending: 9, Success: 8, Failure: 1, 400: 26 });
  });
});
