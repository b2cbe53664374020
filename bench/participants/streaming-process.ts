/**
 * A participant of a large registry in its own process. It generates each
 * element and each update when it sends it, since a stored ledger of a million
 * contracts would need more memory than the measured service. After the
 * snapshot it commits updates only on command.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { synchronizer } from "../../demo/element.js";
import { serve } from "../processes/child.js";
import { contractId } from "../registries/element.js";
import { createOffer, generateTransfers } from "../registries/transfers.js";

const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
const PROTOCOL = "daml.ws.auth";
const MAX_OPEN = 1_000;

export interface StreamingOptions {
  readonly offers: number;
}

/** Size of the snapshot; `bytes` are those of the base64 blobs and the JSON payloads. */
export interface SnapshotSize {
  readonly contracts: number;
  readonly bytes: number;
}

export interface CommitCommand {
  readonly commit: number;
}

export interface Committed {
  readonly offer: number;
  readonly offset: number;
  readonly at: number;
}

serve<StreamingOptions, "sent" | CommitCommand>(async ({ offers }) => {
  let sent: SnapshotSize = { contracts: 0, bytes: 0 };
  const ledger = new Ledger(offers);
  const server = createServer((request, response) => {
    const body = respond(request.url ?? "", ledger);
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? {}));
  });
  const sockets = new WebSocketServer({ server, perMessageDeflate: false, handleProtocols: () => PROTOCOL });
  sockets.on("connection", (socket, { url }) => {
    // The benchmark fails later where it needs this connection.
    socket.on("error", () => undefined);
    socket.once("message", (message: Buffer) => {
      if (url === "/v2/updates") void ledger.sendUpdates(socket, message.toString());
      else if (url === "/v2/state/active-contracts") {
        void sendSnapshot(socket, offers).then((all) => {
          sent = all;
          socket.close(1000);
        });
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    started: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (question) => (question === "sent" ? sent : ledger.commit(question)),
  };
});

function respond(path: string, { end }: Ledger): object | undefined {
  switch (path) {
    case "/v2/state/ledger-end":
      return { offset: end };
    case "/v2/state/latest-pruned-offsets":
      return { participantPrunedUpToInclusive: 0, allDivulgedContractsPrunedUpToInclusive: 0 };
    case "/v2/updates/update-by-id":
      // The service only checks that the update exists.
      return {};
    default:
      return undefined;
  }
}

/** The updates after the snapshot. The n-th is always the same. */
class Ledger {
  readonly #offers: number;
  readonly #snapshotEnd: number;
  #committed = 0;
  #waiters: (() => void)[] = [];

  constructor(offers: number) {
    this.#offers = offers;
    this.#snapshotEnd = 1_000 + 2 * offers;
  }

  get end(): number {
    return this.#snapshotEnd + this.#committed;
  }

  commit({ commit }: CommitCommand): Committed {
    this.#committed += commit;
    const at = performance.timeOrigin + performance.now();
    for (const resolve of this.#waiters.splice(0)) resolve();
    return { offer: this.#offers + this.#committed - 1, offset: this.end, at };
  }

  /** Sends the requested updates as they are committed, until the end of the range or the close of the socket. */
  async sendUpdates(socket: WebSocket, request: string): Promise<void> {
    const { beginExclusive, endInclusive = Number.POSITIVE_INFINITY } = JSON.parse(request) as UpdatesRequest;
    for (let offset = beginExclusive + 1; offset <= endInclusive && socket.readyState === socket.OPEN; offset++) {
      while (offset > this.end) await new Promise<void>((resolve) => this.#waiters.push(resolve));
      await send(socket, JSON.stringify(this.#update(offset)));
    }
    socket.close(1000);
  }

  /** Creates an offer with its holding and archives an earlier one, so the registry keeps its size. */
  #update(offset: number): object {
    const number = offset - this.#snapshotEnd - 1;
    const created = createOffer(this.#offers + number).map(({ contractEntry }) => ({
      CreatedEvent: { ...contractEntry.JsActiveContract.createdEvent, offset },
    }));
    const old = this.#offers + number - MAX_OPEN;
    const archivedIds = number < MAX_OPEN ? [] : [contractId(`offer ${old}`), contractId(`holding ${old}`)];
    const archived = archivedIds.map((id) => ({ ArchivedEvent: { offset, contractId: id } }));
    const recordTime = new Date().toISOString();
    const events = [...created, ...archived];
    const value = { updateId: `update ${offset}`, offset, synchronizerId: synchronizer, recordTime, events };
    return { update: { Transaction: { value } } };
  }
}

interface UpdatesRequest {
  readonly beginExclusive: number;
  readonly endInclusive?: number;
}

async function sendSnapshot(socket: WebSocket, offers: number): Promise<SnapshotSize> {
  let [contracts, bytes] = [0, 0];
  for (const element of generateTransfers(offers)) {
    const { createdEvent } = element.contractEntry.JsActiveContract;
    contracts++;
    bytes += createdEvent.createdEventBlob.length + JSON.stringify(createdEvent.createArgument).length;
    await send(socket, JSON.stringify(element));
    if (socket.readyState !== socket.OPEN) break;
  }
  return { contracts, bytes };
}

async function send(socket: WebSocket, text: string): Promise<void> {
  if (socket.bufferedAmount < MAX_BUFFERED_BYTES) socket.send(text);
  else await new Promise<void>((resolve) => socket.send(text, () => resolve()));
}
