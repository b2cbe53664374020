/** Headers set by a guard are sent on every protocol. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { BurnService } from "../../../gen/offledger/burn/v0/burn_service_pb.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

const rpc = "/offledger.burn.v0.BurnService/GetBurnOfferCancelContext";
const answer = () => ({ choiceContextData: {}, disclosedContracts: [] });
let server: Server;
let url: string;
beforeAll(async () => {
  server = await createServer([bindPartial(BurnService, { getBurnOfferCancelContext: answer })], {
    ...TEST_SERVER_OPTIONS,
    guards: [
      (fastify) => {
        fastify.addHook("onRequest", (_request, reply, done) => {
          reply.header("x-seen-by", "a guard");
          done();
        });
      },
    ],
  });
  url = await server.listen("127.0.0.1", 0);
});
afterAll(() => server.close(100));

const body = JSON.stringify({ registrarParty: "registrar::1220", burnOfferContractId: "00ab" });
const rest = "/api/utilities/v0/registry/burn/v0/offer/00ab/choice-contexts/cancel";

test.each([
  ["Connect JSON", rpc, "application/json", body],
  ["gRPC-Web", rpc, "application/grpc-web+json", "\0\0\0\0\x02{}"],
  ["REST", rest, "application/json", "{}"],
])("%s", async (_what, path, type, sent) => {
  const response = await fetch(url + path, { method: "POST", headers: { "content-type": type }, body: sent });
  expect(response.headers.get("x-seen-by")).toBe("a guard");
  await response.arrayBuffer();
});
