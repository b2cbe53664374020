/** Answers that wait behind another on their connection take the memory that they have bytes, not that which is lent to those that are sent at once. */
import net from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { AllocationService } from "../../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { contextReply } from "../../../src/service/context-reply.js";
import { createServer } from "../../../src/transport/server.js";
import { offerSome } from "../../fixtures/offering.js";
import { gate, until } from "../../fixtures/wait.js";
import { defaultOptions } from "../../fixtures/server-options.js";

const CONNECTIONS = 40;
/** Behind the one that they wait for. */
const WAITING = 8;
const KB = 1024;

const reply = (id: string) =>
  contextReply({ values: [{ name: id, value: { tag: "AV_Text", value: id } }], disclosed: [] }, true);

const rpc = (name: string, id: number): string => {
  const body = JSON.stringify({ registrarParty: "registrar", allocationId: `id ${id}` });
  const head = `POST /${AllocationService.typeName}/${name} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json`;
  return `${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};

/** The ids in the answers that have come. */
const told = (seen: string): string[] => [...seen.matchAll(/"value":"(id \d+)"/g)].map(([, id = ""]) => id);

test("many small answers that wait take little memory, and come in their order", async () => {
  const shut = gate();
  let answered = 0;
  const service = offerSome(AllocationService, {
    async getAllocationWithdrawContext({ allocationId }) {
      await shut.opened;
      return reply(allocationId);
    },
    getAllocationCancelContext({ allocationId }) {
      answered++;
      return reply(allocationId);
    },
  });
  const server = await createServer([service], defaultOptions);
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
  await until("all are answered", () => answered === CONNECTIONS * WAITING);
  // Each with 64 KiB would be 20 MB.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(CONNECTIONS * WAITING * 16 * KB);

  shut.open();
  await until("all answers have come", () => clients.every(({ seen }) => told(seen).length === WAITING + 1));
  for (const { seen } of clients) expect(told(seen)).toEqual(["id 0", ...ids.map((id) => `id ${id}`)]);
});
