/** A reader of a stream of messages that is slower than the server. */
import type { IncomingMessage } from "node:http";
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { WebSocket } from "ws";
import { LedgerError } from "../../../src/ledger/participant/errors.js";
import type { Endpoint } from "../../../src/ledger/participant/http.js";
import { streamMessages } from "../../../src/ledger/participant/message-stream.js";
import type { JsonValue } from "../../../src/domain/json.js";
import { until, within } from "../../fixtures/wait.js";
import { endpointAt, failureOf, SOON_MS, streaming } from "./servers.js";

const PATH = "/v2/updates";
const REQUEST = { beginExclusive: 5, updateFormat: { party: "Zoë ☂" } };
const open = (endpoint: Endpoint, hasEnd = false) => streamMessages(endpoint, PATH, REQUEST, hasEnd);

/** Collects the messages of a stream and its error. */
async function all(
  messages: AsyncGenerator<JsonValue>,
): Promise<{ got: JsonValue[]; failure: LedgerError | undefined }> {
  const got: JsonValue[] = [];
  const reading = async () => {
    try {
      for await (const message of messages) got.push(message);
      return undefined;
    } catch (error) {
      if (error instanceof LedgerError) return error;
      throw error;
    }
  };
  const failure = await within(SOON_MS, "the end of the stream", reading());
  return { got, failure };
}

/** A server that calls back with the socket after the request. */
const afterRequest = (act: (socket: WebSocket, request: IncomingMessage) => void): Promise<URL> =>
  streaming((socket, request) => socket.once("message", () => act(socket, request)));

const COUNT = 50_000;
const text = (number: number) => JSON.stringify({ number, filler: "x".repeat(1_000) });

/** A server that sends as fast as it can, and its unsent bytes. */
async function flood() {
  const sockets: WebSocket[] = [];
  const url = await afterRequest((socket) => {
    sockets.push(socket);
    void (async () => {
      for (let number = 0; number < COUNT; number++) {
        socket.send(text(number));
        // The reader runs in this process too.
        if (number % 500 === 0) await turn();
      }
      socket.close(1000);
    })();
  });
  return { url, held: () => sockets[0]?.bufferedAmount ?? 0 };
}

/** The unsent bytes of the server, once they are stable. */
async function settled(held: () => number): Promise<number> {
  let last = -1;
  let same = 0;
  await until("the server sends nothing more", async () => {
    await pause(5);
    same = held() === last ? same + 1 : 0;
    last = held();
    return same >= 30;
  });
  return last;
}

const numberOf = (message: JsonValue): number => (message as { number: number }).number;

describe("a reader that is slower than the server", () => {
  test("leaves most messages at the server while it pauses, loses none, and keeps their order", async () => {
    const { url, held } = await flood();
    const messages = open(endpointAt(url));
    expect((await messages.next()).value).toMatchObject({ number: 0 });
    // The system buffers a few of the 50 megabytes.
    expect(await settled(held)).toBeGreaterThan(30_000_000);
    for (let number = 1; number < 10_000; number++) expect((await messages.next()).value).toMatchObject({ number });
    expect(await settled(held)).toBeGreaterThan(20_000_000);
    const rest: number[] = [];
    for await (const message of messages) rest.push(numberOf(message));
    expect(rest).toEqual(Array.from({ length: COUNT - 10_000 }, (_, index) => 10_000 + index));
  });

  test("loses nothing if it pauses between messages", async () => {
    const { url } = await flood();
    const got: number[] = [];
    for await (const message of open(endpointAt(url))) if (got.push(numberOf(message)) % 7 === 0) await turn();
    expect(got).toEqual(Array.from({ length: COUNT }, (_, index) => index));
  });

  test("gets all messages sent before a cut", async () => {
    const url = await afterRequest((socket, request) => {
      for (let number = 0; number < 5_000; number++) socket.send(text(number));
      request.socket.end();
    });
    const messages = open(endpointAt(url));
    const got: number[] = [];
    for (let number = 0; number < 5_000; number++) {
      const next = await messages.next();
      got.push(numberOf(next.value as JsonValue));
      if (number % 7 === 0) await turn();
    }
    expect(got).toEqual(Array.from({ length: 5_000 }, (_, index) => index));
    expect(await failureOf(messages.next())).toMatchObject({ kind: "lost" });
  });

  test("is not mistaken for a silent server", async () => {
    const { url, held } = await flood();
    const messages = open(endpointAt(url, { timeouts: { ping: 2_000, message: 2_000 } }), true);
    await messages.next();
    expect(await settled(held)).toBeGreaterThan(30_000_000);
    // Longer than the timeout for a silent server.
    await pause(5_000);
    const { got, failure } = await all(messages);
    expect(failure).toBeUndefined();
    expect(got).toHaveLength(COUNT - 1);
  });
});
