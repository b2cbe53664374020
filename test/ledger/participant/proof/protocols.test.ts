/** Proofs over every protocol: equal responses and equal errors. */
import { Code } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { TransferService } from "../../../../gen/offledger/transfer/v0/transfer_service_pb.js";
import type { JsonObject } from "../../../../src/domain/json.js";
import { type Call, type Outcome, protocols } from "../../../fixtures/protocols.js";
import { serving } from "../../../fixtures/registries.js";
import { path, Proving, proving, unknownId, unverifiedBody } from "./proof-service.js";
import { ending, offering, transfer } from "./transfer-steps.js";

const place = proving({ readWaitMs: 0 });
let offered: string;
let accepted: string;
let rejected: string;
beforeAll(() => {
  offered = place.transact(offering("factory", "offer"));
  accepted = place.transact(ending("Accept", "offer"));
  place.transact(offering("factory", "unwanted"));
  rejected = place.transact(ending("Reject", "unwanted"));
});

function call(updateId: string, asked: JsonObject = transfer): Call {
  const body = { updateId, transfer: asked };
  return { method: TransferService.method.verifyTransferProof, request: body, path, body };
}

const answered = (status: string): Outcome => ({ ok: true, answer: { status } });

describe.each(Object.entries(protocols))("by %s", (_, ask) => {
  test("a proof is returned", async () => {
    expect(await ask(place.url, call(accepted))).toEqual(answered("Success"));
    expect(await ask(place.url, call(offered))).toEqual(answered("Pending"));
    expect(await ask(place.url, call(rejected))).toEqual(answered("Failure"));
  });

  test("a caller who does not know the transfer learns nothing", async () => {
    const unverified = { ok: false, code: Code.InvalidArgument, message: unverifiedBody.error_description };
    expect(await ask(place.url, call(unknownId))).toEqual(unverified);
    expect(await ask(place.url, call("mistyped"))).toEqual(unverified);
    expect(await ask(place.url, call(accepted, { ...transfer, amount: "12.6" }))).toEqual(unverified);
  });

  test("an invalid request is rejected", async () => {
    const message = "transfer.requestedAt must be a time such as 2026-01-31T12:00:00.123456Z";
    const refused = { ok: false, code: Code.InvalidArgument, message };
    expect(await ask(place.url, call(accepted, { ...transfer, requestedAt: "soon" }))).toEqual(refused);
    const { meta: _meta, ...without } = transfer;
    expect(await ask(place.url, call(accepted, without))).toMatchObject({ ok: false, code: Code.InvalidArgument });
  });

  test("a file has no updates", async () => {
    const { url } = await serving([]);
    expect(await ask(url, call(accepted))).toMatchObject({ ok: false, code: Code.NotFound });
  });

  test("without the ledger it is unavailable", async () => {
    const own = new Proving();
    await own.start();
    try {
      await own.participant.stop();
      const message = "the ledger cannot be asked for its updates now";
      expect(await ask(own.url, call(accepted))).toEqual({ ok: false, code: Code.Unavailable, message });
    } finally {
      await own.stop();
    }
  });
});
