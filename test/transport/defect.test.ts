/** A defect that shows only while an answer is written: told as any other, by every protocol, and the service goes on. */
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AllocationService } from "../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { contextReply } from "../../src/service/context-reply.js";
import type { Contract } from "../../src/domain/contract.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { offerSome } from "../fixtures/offering.js";
import { type Call, protocols } from "../fixtures/protocols.js";
import { defaultOptions } from "../fixtures/server-options.js";

/** The rules never let a contract between synchronizers into an answer; this one is there all the same. */
const moving: Contract = {
  contractId: "secret-contract",
  template: { packageName: "package", qualifiedName: "Module:Entity", parse: () => undefined },
  templateId: "package:Module:Entity",
  payload: "{}",
  fields: null,
  indexKeys: [],
  createdEventBlob: "AAAA",
  createdAt: "2026-01-05T09:00:00Z",
  createdMicros: 0,
  synchronizerId: undefined,
  reassignmentCounter: 1,
  supply: undefined,
  slots: undefined,
};

const call: Call = {
  method: AllocationService.method.getAllocationWithdrawContext,
  request: { registrarParty: "a", allocationId: "b" },
  path: "/api/token-standard/v0/registrars/a/registry/allocations/v1/b/choice-contexts/withdraw",
  body: {},
};

const answer = async () => contextReply({ values: [], disclosed: [moving] }, false);

let server: Server;
let url: string;
beforeAll(async () => {
  const bindings = [offerSome(AllocationService, { getAllocationWithdrawContext: answer })];
  server = await createServer(bindings, defaultOptions);
  url = await server.listen("127.0.0.1", 0);
});
afterAll(() => server.close(1_000));

test.each(Object.entries(protocols))("is internal by %s, and shows nothing", async (name, send) => {
  for (let count = 0; count < 2; count++) {
    const outcome = await send(url, call);
    // The fixture knows the statuses of outcomes alone.
    expect(outcome).toMatchObject({ ok: false, code: name === "REST" ? Code.Unknown : Code.Internal });
    expect(JSON.stringify(outcome)).not.toContain("secret-contract");
  }
});
