/**
 * A participant of a large registry in a process of its own. It makes each
 * element and each update when it sends it: a ledger that remembered a million
 * would need more memory than what is measured. After the snapshot nothing
 * happens unless it is told to commit.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { synchronizer } from "../../demo/element.js";
import { serve } from "../processes/child.js";
import { contractId } from "../registries/element.js";
import { offerOf, transfers } from "../registries/transfers.js";

/** How much may wait to be sent, in bytes. */
const MOST_BUFFERED = 4 * 1024 * 1024;
const PROTOCOL = "daml.ws.auth";
/** How many of the offers that are made on the way are open at a time. */
const OPEN = 1_000;

export interface Streaming {
  readonly offers: number;
}

/** Of all that was sent in the snapshot: the blobs as base64 text and the payloads as JSON text, in bytes. */
export interface Sent {
  readonly contracts: number;
  readonly bytes: number;
}

/** Commits so many updates at once. */
export interface Commit {
  readonly commit: number;
}

export interface Committed {
  /** The number of the last offer. */
  readonly offer: number;
  /** Of the last update. */
  readonly offset: number;
  /** When, in milliseconds since 1970. */
  readonly at: number;
}

serve<Streaming, "sent" | Commit>(async ({ offers }) => {
  let sent: Sent = { contracts: 0, bytes: 0 };
  const ledger = new Ledger(offers);
  const server = createServer((request, response) => {
    const found = answerTo(request.url ?? "", ledger);
    response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(found ?? {}));
  });
  const sockets = new WebSocketServer({ server, perMessageDeflate: false, handleProtocols: () => PROTOCOL });
  sockets.on("connection", (socket, { url }) => {
    // A connection that breaks ends the benchmark where it is missed.
    socket.on("error", () => undefined);
    socket.once("message", (message: Buffer) => {
      if (url === "/v2/updates") void ledger.sendUpdates(socket, message.toString());
      else if (url === "/v2/state/active-contracts") {
        void sendAll(socket, offers).then((all) => {
          sent = all;
          socket.close(1000);
        });
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    begun: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (asked) => (asked === "sent" ? sent : ledger.commit(asked)),
  };
});

function answerTo(path: string, { end }: Ledger): object | undefined {
  switch (path) {
    case "/v2/state/ledger-end":
      return { offset: end };
    case "/v2/state/latest-pruned-offsets":
      return { participantPrunedUpToInclusive: 0, allDivulgedContractsPrunedUpToInclusive: 0 };
    case "/v2/updates/update-by-id":
      // It has all that it ever sent, and who asks looks no further.
      return {};
    default:
      return undefined;
  }
}

/** What happens behind the snapshot: the n-th update is always the same. */
class Ledger {
  readonly #offers: number;
  readonly #begin: number;
  #committed = 0;
  #wakes: (() => void)[] = [];

  constructor(offers: number) {
    this.#offers = offers;
    this.#begin = 1_000 + 2 * offers;
  }

  get end(): number {
    return this.#begin + this.#committed;
  }

  commit({ commit }: Commit): Committed {
    this.#committed += commit;
    const at = performance.timeOrigin + performance.now();
    for (const wake of this.#wakes.splice(0)) wake();
    return { offer: this.#offers + this.#committed - 1, offset: this.end, at };
  }

  /** Sends what a stream has asked for, as it is there, until it has come to its end or is closed. */
  async sendUpdates(socket: WebSocket, request: string): Promise<void> {
    const { beginExclusive, endInclusive = Number.POSITIVE_INFINITY } = JSON.parse(request) as Asked;
    for (let offset = beginExclusive + 1; offset <= endInclusive && socket.readyState === socket.OPEN; offset++) {
      while (offset > this.end) await new Promise<void>((resolve) => this.#wakes.push(resolve));
      await send(socket, JSON.stringify(this.#update(offset)));
    }
    socket.close(1000);
  }

  /** An offer comes with its holding, and one that came before goes: the registry stays as large as it is. */
  #update(offset: number): object {
    const number = offset - this.#begin - 1;
    const created = offerOf(this.#offers + number).map(({ contractEntry }) => ({
      CreatedEvent: { ...contractEntry.JsActiveContract.createdEvent, offset },
    }));
    const old = this.#offers + number - OPEN;
    const gone = number < OPEN ? [] : [contractId(`offer ${old}`), contractId(`holding ${old}`)];
    const archived = gone.map((id) => ({ ArchivedEvent: { offset, contractId: id } }));
    const recordTime = new Date().toISOString();
    const events = [...created, ...archived];
    const value = { updateId: `update ${offset}`, offset, synchronizerId: synchronizer, recordTime, events };
    return { update: { Transaction: { value } } };
  }
}

interface Asked {
  readonly beginExclusive: number;
  readonly endInclusive?: number;
}

async function sendAll(socket: WebSocket, offers: number): Promise<Sent> {
  let [contracts, bytes] = [0, 0];
  for (const element of transfers(offers)) {
    const { createdEvent } = element.contractEntry.JsActiveContract;
    contracts++;
    bytes += createdEvent.createdEventBlob.length + JSON.stringify(createdEvent.createArgument).length;
    await send(socket, JSON.stringify(element));
    if (socket.readyState !== socket.OPEN) break;
  }
  return { contracts, bytes };
}

async function send(socket: WebSocket, text: string): Promise<void> {
  if (socket.bufferedAmount < MOST_BUFFERED) socket.send(text);
  else await new Promise<void>((resolve) => socket.send(text, () => resolve()));
}
