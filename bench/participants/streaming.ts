/**
 * A participant of a large registry in a process of its own. It makes each
 * element when it sends it: a ledger that remembered a million would need more
 * memory than what is measured. After the snapshot nothing happens any more.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { serve } from "../processes/child.js";
import { transfers } from "../registries/transfers.js";

/** How much may wait to be sent, in bytes. */
const MOST_BUFFERED = 4 * 1024 * 1024;
const PROTOCOL = "daml.ws.auth";

export interface Streaming {
  readonly offers: number;
}

/** Of all that was sent: the blobs as base64 text and the payloads as JSON text, in bytes. */
export interface Sent {
  readonly contracts: number;
  readonly bytes: number;
}

serve<Streaming, "sent">(async ({ offers }) => {
  let sent: Sent = { contracts: 0, bytes: 0 };
  const answers: Readonly<Record<string, object>> = {
    "/v2/state/ledger-end": { offset: 1_000 + 2 * offers },
    "/v2/state/latest-pruned-offsets": {
      participantPrunedUpToInclusive: 0,
      allDivulgedContractsPrunedUpToInclusive: 0,
    },
  };
  const server = createServer((request, response) => {
    const found = answers[request.url ?? ""];
    response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(found ?? {}));
  });
  const sockets = new WebSocketServer({ server, perMessageDeflate: false, handleProtocols: () => PROTOCOL });
  sockets.on("connection", (socket, request) => {
    // A connection that breaks ends the benchmark where it is missed.
    socket.on("error", () => undefined);
    if (request.url !== "/v2/state/active-contracts") return;
    socket.once("message", () => {
      void sendAll(socket, offers).then((all) => {
        sent = all;
        socket.close(1000);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { begun: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answer: () => sent };
});

async function sendAll(socket: WebSocket, offers: number): Promise<Sent> {
  let [contracts, bytes] = [0, 0];
  for (const element of transfers(offers)) {
    const { createdEvent } = element.contractEntry.JsActiveContract;
    contracts++;
    bytes += createdEvent.createdEventBlob.length + JSON.stringify(createdEvent.createArgument).length;
    const text = JSON.stringify(element);
    if (socket.bufferedAmount < MOST_BUFFERED) socket.send(text);
    else await new Promise<void>((resolve) => socket.send(text, () => resolve()));
    if (socket.readyState !== socket.OPEN) break;
  }
  return { contracts, bytes };
}
