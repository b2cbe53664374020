/** Pipelined responses that wait for an earlier one hold their own bytes, not a pooled buffer each. */
import net from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { AllocationService } from "../../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { contextReply } from "../../../src/service/messages/context-reply.js";
import { createServer } from "../../../src/transport/server.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { gate, until } from "../../fixtures/wait.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

const CONNECTIONS = 40;
/** Responses per connection that wait for the first one. */
const WAITING = 8;
const KB = 1024;

const reply = (id: string) =>
  contextReply({ values: [{ name: id, value: { tag: "AV_Text", value: id } }], disclosed: [] }, true);

const rpc = (name: string, id: number): string => {
  const body = JSON.stringify({ registrarParty: "registrar", allocationId: `id ${id}` });
  const head = `POST /${AllocationService.typeName}/${name} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json`;
  return `${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};

/** The ids in the responses received. */
const parseIds = (seen: string): string[] => [...seen.matchAll(/"value":"(id \d+)"/g)].map(([, id = ""]) => id);

test("many small waiting responses take little memory, and arrive in order", async () => {
  const held = gate();
  let handled = 0;
  const service = bindPartial(AllocationService, {
    async getAllocationWithdrawContext({ allocationId }) {
      await held.opened;
      return reply(allocationId);
    },
    getAllocationCancelContext({ allocationId }) {
      handled++;
      return reply(allocationId);
    },
  });
  const server = await createServer([service], TEST_SERVER_OPTIONS);
  onTestFinished(() => server.close(100));
  const { hostname, port } = new URL(await server.listen("127.0.0.1", 0));
  const before = process.memoryUsage().arrayBuffers;

  const ids = Array.from({ length: WAITING }, (_, index) => index + 1);
  const requests =
    rpc("GetAllocationWithdrawContext", 0) + ids.map((id) => rpc("GetAllocationCancelContext", id)).join("");
  const clients = Array.from({ length: CONNECTIONS }, () => {
    const socket = net.connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    const client = { seen: "" };
    socket.on("data", (chunk) => (client.seen += chunk.toString()));
    socket.write(requests);
    return client;
  });
  await until("all handlers have run", () => handled === CONNECTIONS * WAITING);
  // With a pooled buffer of 64 KiB each it would be 20 MB.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(CONNECTIONS * WAITING * 16 * KB);

  held.open();
  await until("all responses have arrived", () => clients.every(({ seen }) => parseIds(seen).length === WAITING + 1));
  for (const { seen } of clients) expect(parseIds(seen)).toEqual(["id 0", ...ids.map((id) => `id ${id}`)]);
});
