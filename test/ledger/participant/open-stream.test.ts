/** Streams that are open and not yet read. */
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { WebSocket } from "ws";
import { Participant } from "../../scripted-participant/participant.js";
import { creation, updatesRequest } from "../../scripted-participant/test-client.js";
import { Tokens } from "../../scripted-participant/tokens.js";
import type { JsonValue } from "../../../src/domain/json.js";
import { LedgerError } from "../../../src/ledger/participant/errors.js";
import type { Endpoint } from "../../../src/ledger/participant/http.js";
import { MessageStream, streamMessages } from "../../../src/ledger/participant/message-stream.js";
import { gate, until, within } from "../../fixtures/wait.js";
import { endpointAt, failureOf, closedPort, SOON_MS, streaming } from "./servers.js";

const FILLER = "x".repeat(10_000);

async function open(endpoint: Endpoint): Promise<MessageStream> {
  const opened = await within(SOON_MS, "the stream opens", MessageStream.open(endpoint, "/v2/updates", {}, false));
  onTestFinished(() => opened.close());
  return opened;
}

/** A server and the sockets that have sent a request. */
async function server(autoPong = true) {
  const sockets: WebSocket[] = [];
  const url = await streaming((socket) => socket.once("message", () => void sockets.push(socket)), { autoPong });
  return { url, sockets };
}

/** Sends messages of at least one kilobyte, as fast as possible. */
async function flood(socket: WebSocket, count: number): Promise<void> {
  for (let number = 0; number < count && socket.readyState === socket.OPEN; number++) {
    socket.send(JSON.stringify({ number, FILLER }));
    if (number % 50 === 0) await turn();
  }
}

describe("a stream is open", () => {
  test("when the server has accepted it, before any message", async () => {
    const { url, sockets } = await server();
    const opened = await open(endpointAt(url));
    expect(opened.hasEnded).toBe(false);
    expect(await opened.isResponsive()).toBe(true);
    // The server has had the request before the ping.
    expect(sockets).toHaveLength(1);
  });

  test("not before that", async () => {
    const accepted = gate();
    const verifyClient = (_info: unknown, accept: (is: boolean) => void) =>
      void accepted.opened.then(() => accept(true));
    const url = await streaming(() => {}, { verifyClient });
    let isOpen = false;
    const opening = open(endpointAt(url)).then(() => {
      isOpen = true;
    });
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(isOpen).toBe(false);
    accepted.open();
    await opening;
  });

  test("or fails at a closed port or after an abort", async () => {
    const url = await closedPort();
    for (const signal of [new AbortController().signal, AbortSignal.abort()]) {
      const opening = MessageStream.open(endpointAt(url, { signal }), "/v2/updates", {}, false);
      expect(await failureOf(opening)).toMatchObject({ kind: "lost" });
    }
  });
});

describe("messages of a stream that is not read", () => {
  test("are queued in order, with the error after them", async () => {
    const { url, sockets } = await server();
    const opened = await open(endpointAt(url));
    await opened.isResponsive();
    for (const number of [1, 2, 3]) sockets[0]?.send(JSON.stringify({ number }));
    sockets[0]?.send(JSON.stringify({ code: "OFFSET_AFTER_LEDGER_END", cause: "because" }));
    sockets[0]?.close(1000);
    await until("the stream is over", () => opened.hasEnded);
    expect(await opened.isResponsive()).toBe(false);
    const got: unknown[] = [];
    const reading = async () => {
      for await (const message of opened) got.push(message);
    };
    expect(await failureOf(reading())).toMatchObject({ kind: "ahead" });
    expect(got).toEqual([{ number: 1 }, { number: 2 }, { number: 3 }]);
  });

  test("stay at the server if there are too many; pings go on, and the server is not mistaken for silent", async () => {
    const { url, sockets } = await server();
    const opened = await open(endpointAt(url, { timeouts: { ping: 150 } }));
    await opened.isResponsive();
    const [socket] = sockets;
    if (socket === undefined) throw new Error("no socket");
    let pings = 0;
    socket.on("ping", () => void pings++);
    const flooding = flood(socket, 10_000);
    await until("nothing can be heard", async () => !(await opened.isResponsive()));
    const before = pings;
    await until("the server sees pings", () => pings > before + 5);
    expect(opened.hasEnded).toBe(false);
    await flooding;
    // Of 100 megabytes.
    expect(socket.bufferedAmount).toBeGreaterThan(50_000_000);
    let number = 0;
    for await (const message of opened) {
      expect(message).toMatchObject({ number });
      if (++number === 10_000) break;
    }
    await until("the server answers again", () => opened.isResponsive());
  });
});

test("a stream that is closed gives nothing more, and does not seem complete, though its server has ended it", async () => {
  const { url, sockets } = await server();
  const opened = await open(endpointAt(url));
  await until("the request is there", () => sockets.length === 1);
  for (const number of [1, 2, 3]) sockets[0]?.send(JSON.stringify({ number }));
  sockets[0]?.close(1000);
  await until("the server has ended the stream", () => opened.hasEnded);
  const messages = opened[Symbol.asyncIterator]();
  expect(await messages.next()).toMatchObject({ value: { number: 1 } });
  opened.close();
  expect(await failureOf(messages.next())).toMatchObject({ kind: "lost", message: "the stream was closed" });
});

describe("a stream that is not read is not responsive", () => {
  test("after a cut, and throws the reason", async () => {
    const { url, sockets } = await server();
    const opened = await open(endpointAt(url));
    await opened.isResponsive();
    sockets[0]?.terminate();
    expect(await within(SOON_MS, "no answer", opened.isResponsive())).toBe(false);
    expect(opened.hasEnded).toBe(true);
    expect(await failureOf(opened[Symbol.asyncIterator]().next())).toMatchObject({ kind: "lost" });
  });

  test("when the endpoint is aborted", async () => {
    const { url } = await server();
    const end = new AbortController();
    const opened = await open(endpointAt(url, { signal: end.signal }));
    const answer = opened.isResponsive();
    end.abort();
    expect(await within(SOON_MS, "no answer", answer)).toBe(false);
    expect(await failureOf(opened[Symbol.asyncIterator]().next())).toBeInstanceOf(LedgerError);
  });

  test("if its server ignores pings, and has ended then", async () => {
    const { url } = await server(false);
    const opened = await open(endpointAt(url, { timeouts: { ping: 20 } }));
    expect(await within(SOON_MS, "no answer", opened.isResponsive())).toBe(false);
    await until("the stream is over", () => opened.hasEnded);
  });

  test("if its server announces a close that does not happen, and has ended then", async () => {
    const { url, sockets } = await server();
    const opened = await open(endpointAt(url, { timeouts: { ping: 20 } }));
    await until("the request is there", () => sockets.length === 1);
    sockets[0]?.send("{}");
    sockets[0]?.close(1001);
    sockets[0]?.pause();
    await until("the stream is over", () => opened.hasEnded, SOON_MS);
    expect(await opened.isResponsive()).toBe(false);
    const messages = opened[Symbol.asyncIterator]();
    expect(await messages.next()).toMatchObject({ value: {} });
    expect(await failureOf(messages.next())).toMatchObject({
      kind: "lost",
      message: expect.stringContaining("1001") as string,
    });
  });

  test("if its server sends messages instead of pongs, and has not ended", async () => {
    const { url, sockets } = await server(false);
    const opened = await open(endpointAt(url, { timeouts: { ping: 500 } }));
    await until("the request is there", () => sockets.length === 1);
    const sending = setInterval(() => sockets[0]?.send("{}"), 5);
    onTestFinished(() => clearInterval(sending));
    expect(await within(SOON_MS, "no answer", opened.isResponsive())).toBe(false);
    expect(opened.hasEnded).toBe(false);
  });
});

describe("at a participant that authenticates, which sees a token in the first place only", () => {
  test("a stream with a token is served, by the subprotocol and by the header; one without is denied", async () => {
    const tokens = new Tokens();
    const participant = await Participant.start({ tokens });
    onTestFinished(() => participant.stop());
    participant.ledger.transact([{ create: creation("a") }]);
    const read = async (token?: string) => {
      const endpoint = endpointAt(new URL(participant.url), { token: () => Promise.resolve(token) });
      const messages: JsonValue[] = [];
      const request = JSON.parse(JSON.stringify(updatesRequest(0, 3))) as JsonValue;
      for await (const message of streamMessages(endpoint, "/v2/updates", request, true)) messages.push(message);
      return messages;
    };
    expect(await read(tokens.issue())).toHaveLength(1);
    expect(await failureOf(read())).toMatchObject({ kind: "denied", isForbidden: false });
    expect(await failureOf(read(tokens.issue({ expiresInMs: -1 })))).toMatchObject({ kind: "denied" });
    expect(await failureOf(read(tokens.issue({ parties: [] })))).toMatchObject({ kind: "denied", isForbidden: true });
    expect(await failureOf(read(tokens.issue({ hasUser: false })))).toMatchObject({
      kind: "denied",
      isForbidden: true,
    });
    expect(participant.requests[0]?.protocols[0]).toMatch(/^jwt\.token\./);
  });
});
