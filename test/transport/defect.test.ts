/** An unexpected error while a response is encoded becomes `internal` over every protocol, and the service keeps running. */
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AllocationService } from "../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { contextReply } from "../../src/service/messages/context-reply.js";
import type { Contract } from "../../src/domain/contract.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { bindPartial } from "../fixtures/partial-service.js";
import { type Call, protocols } from "../fixtures/protocols.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";

/** The rules never disclose a contract in reassignment. This one cannot be encoded. */
const unencodable: Contract = {
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

const respond = async () => contextReply({ values: [], disclosed: [unencodable] }, false);

let server: Server;
let url: string;
beforeAll(async () => {
  const bindings = [bindPartial(AllocationService, { getAllocationWithdrawContext: respond })];
  server = await createServer(bindings, TEST_SERVER_OPTIONS);
  url = await server.listen("127.0.0.1", 0);
});
afterAll(() => server.close(1_000));

test.each(Object.entries(protocols))("is internal over %s, and hides the cause", async (name, send) => {
  for (let count = 0; count < 2; count++) {
    const outcome = await send(url, call);
    // The REST fixture has no code for status 500.
    expect(outcome).toMatchObject({ ok: false, code: name === "REST" ? Code.Unknown : Code.Internal });
    expect(JSON.stringify(outcome)).not.toContain("secret-contract");
  }
});
