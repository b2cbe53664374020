/** Streams of messages over a WebSocket: how they open, end, fail, and bound what they queue. */
import { getEventListeners } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { WebSocket } from "ws";
import { LedgerError, type LedgerErrorKind } from "../../../src/ledger/participant/errors.js";
import type { Endpoint } from "../../../src/ledger/participant/http.js";
import { MessageStream, streamMessages } from "../../../src/ledger/participant/message-stream.js";
import type { JsonValue } from "../../../src/util/json.js";
import { gate, until, within } from "../../fixtures/wait.js";
import { createCertificates, hasOpenssl } from "../../fixtures/certificates.js";
import {
  closedPort,
  endpointAt,
  errorOf,
  everythingOf,
  failureOf,
  listening,
  serving,
  SOON_MS,
  streaming,
} from "./servers.js";

const PATH = "/v2/updates";
const REQUEST = { beginExclusive: 5, updateFormat: { party: "Zoë ☂" } };
const TOKEN = "eyJhbGciOiJub25lIn0.c2VjcmV0.c2lnbmF0dXJl";
const withToken = (token: string) => ({ token: () => Promise.resolve(token) });

const read = (endpoint: Endpoint, hasEnd = false) => streamMessages(endpoint, PATH, REQUEST, hasEnd);

async function open(endpoint: Endpoint): Promise<MessageStream> {
  const opened = await within(SOON_MS, "the stream opens", MessageStream.open(endpoint, PATH, REQUEST, false));
  onTestFinished(() => opened.close());
  return opened;
}

/** Collects the messages of a stream and its error. */
async function all(messages: AsyncIterable<JsonValue>) {
  const got: JsonValue[] = [];
  const reading = async (): Promise<LedgerError | undefined> => {
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

/** A server that calls back with the socket after the request; the sockets that have sent one, and how many closed. */
async function server(
  act: (socket: WebSocket, request: IncomingMessage) => void = () => {},
  options: { readonly autoPong?: boolean } = {},
) {
  const sockets: WebSocket[] = [];
  const state = { closed: 0 };
  const accepted = (socket: WebSocket, request: IncomingMessage) => {
    socket.on("close", () => void state.closed++);
    socket.once("message", () => {
      sockets.push(socket);
      act(socket, request);
    });
  };
  const url = await streaming(accepted, options);
  const gone = () => until("the server's socket is closed", () => state.closed === 1);
  return { url, sockets, gone };
}

/** A server that answers upgrades with a status. */
function rejecting(status: number): Promise<URL> {
  const http = createServer();
  http.on("upgrade", (_request, socket) => {
    socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno`);
  });
  return listening(http);
}

const numbered = (count: number): JsonValue[] => Array.from({ length: count }, (_, number) => ({ number }));

function sendAll(socket: WebSocket, messages: readonly JsonValue[]): void {
  for (const message of messages) socket.send(JSON.stringify(message));
}

describe("a stream", () => {
  test("sends its request as one message, to the path below the base, and nothing else", async () => {
    const received: unknown[] = [];
    const url = await streaming((socket, request) => {
      socket.on("message", (data: Buffer, isBinary) => {
        received.push(request.url, data.toString(), isBinary);
        // Any further message would arrive before the answer to this ping.
        socket.ping();
        socket.once("pong", () => socket.close(1000));
      });
    });
    expect(await all(read(endpointAt(new URL("/ledger/", url))))).toEqual({ got: [], failure: undefined });
    expect(received).toEqual([`/ledger${PATH}`, JSON.stringify(REQUEST), false]);
  });

  test("yields all messages in order, large ones too, and ends with the server", async () => {
    const messages = [...numbered(2_500), { blob: "☂".repeat(1_000_000) }];
    const { url } = await server((socket) => {
      sendAll(socket, messages);
      socket.close(1000);
    });
    expect(await all(read(endpointAt(url)))).toEqual({ got: messages, failure: undefined });
  });
});

describe("a stream fails after the messages before", () => {
  test.each<[string, (socket: WebSocket, request: IncomingMessage) => void, LedgerErrorKind]>([
    ["its connection is cut", (_socket, request) => void request.socket.end(), "lost"],
    ["the server has an error", (socket) => socket.close(1011, "broken"), "lost"],
    ["it is cut within", (socket, { socket: tcp }) => socket.send("{", { fin: false }, () => tcp.end()), "lost"],
    ["half a message comes", (socket) => socket.send('{"number":'), "unreadable"],
    ["ten million levels come", (socket) => socket.send("[".repeat(1e7) + "]".repeat(1e7)), "unreadable"],
    ["an error comes", (socket) => socket.send(errorOf("PARTICIPANT_PRUNED_DATA_ACCESSED", 9)), "pruned"],
  ])("when %s, without the token in the message", async (_how, fail, kind) => {
    const requests: IncomingMessage[] = [];
    const { url, sockets, gone } = await server((socket, request) => {
      sendAll(socket, numbered(3));
      requests.push(request);
    });
    const messages = read(endpointAt(url, withToken(TOKEN)));
    const first = [await messages.next(), await messages.next(), await messages.next()];
    expect(first.map(({ value }) => value as JsonValue)).toEqual(numbered(3));
    const [socket, request] = [sockets[0], requests[0]];
    if (socket === undefined || request === undefined) throw new Error("there is no request");
    fail(socket, request);
    const { got, failure } = await all(messages);
    expect([got, failure?.kind]).toEqual([[], kind]);
    expect(everythingOf(failure)).not.toContain(TOKEN);
    await gone();
  });
});

describe("a stream that does not open", () => {
  test.each<[string, () => Promise<URL>, LedgerErrorKind, string]>([
    ["with status 401 is denied", () => rejecting(401), "denied", "401"],
    ["with status 404 is refused", () => rejecting(404), "refused", "404"],
    ["with status 503 is busy", () => rejecting(503), "busy", "503"],
    ["without WebSocket is refused", () => serving((_, response) => void response.end()), "refused", "200"],
    ["at a closed port is lost", closedPort, "lost", "ECONNREFUSED"],
    [
      "without the subprotocol is lost",
      () => streaming(() => {}, { handleProtocols: () => false }),
      "lost",
      "subprotocol",
    ],
  ])("%s, and the message has no token", async (_what, at, kind, said) => {
    const { got, failure } = await all(read(endpointAt(await at(), withToken(TOKEN))));
    expect([got, failure?.kind]).toEqual([[], kind]);
    expect(failure?.message).toContain(said);
    expect(everythingOf(failure)).not.toContain(TOKEN);
  });

  const [location, html] = ["location: https://sso.example/login?secret", "content-type: text/html"];
  const page = "<html><title>Bad Gateway</title></html>";
  const hidden = errorOf("NA", -1, { grpcCodeValue: 7 });
  const forbidden = { kind: "denied", details: { isForbidden: true } };

  test.each<[number, string, string, object, string]>([
    [403, "content-type: application/json", hidden, forbidden, "status 403, NA: because"],
    [302, location, "", { kind: "refused" }, "302, a redirect to https://sso.example/login: "],
    [502, html, page, { kind: "busy" }, '502, a page of HTML, "Bad Gateway"'],
    [503, "retry-after: 7", "", { kind: "busy", details: { retryMs: 7_000 } }, "status 503"],
  ])("says what answered with status %i: %s", async (status, header, body, kind, said) => {
    const http = createServer();
    http.on("upgrade", (_request, socket: Socket) => {
      socket.end(`HTTP/1.1 ${status} no\r\n${header}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
    const { failure } = await all(read(endpointAt(await listening(http))));
    expect(failure).toMatchObject(kind);
    expect(failure?.message).toContain(said);
    expect(failure?.message).not.toContain("secret");
  });

  test("is told though the rest of the answer does not come", async () => {
    const http = createServer();
    http.on("upgrade", (_request, socket: Socket) => {
      socket.on("error", () => {});
      socket.write("HTTP/1.1 503 no\r\ncontent-length: 100\r\n\r\n{");
    });
    const { failure } = await all(read(endpointAt(await listening(http))));
    expect(failure).toMatchObject({ kind: "busy", details: { status: 503 } });
  });

  test("at a silent server is lost after the timeout", async () => {
    const http = createServer();
    const sockets: Socket[] = [];
    http.on("upgrade", (_request, socket: Socket) => void sockets.push(socket));
    const url = await listening(http);
    expect((await all(read(endpointAt(url, { timeouts: { open: 100 } })))).failure).toMatchObject({ kind: "lost" });
    await until("the socket is closed", () => sockets.every((socket) => socket.destroyed || socket.readableEnded));
    for (const socket of sockets) socket.destroy();
  });

  test.each<[string, Endpoint["token"], string]>([
    ["the token fails, with the same error", () => Promise.reject(new LedgerError("denied", "no token")), "no token"],
    ...["two words", "two\nlines", "a=", "ü"].map((token): [string, Endpoint["token"], string] => [
      `no header can carry the token ${JSON.stringify(token)}, which is not told`,
      () => Promise.resolve(token),
      "the token for the participant has invalid characters",
    ]),
  ])("as %s", async (_why, token, message) => {
    let connections = 0;
    const url = await streaming(() => void connections++);
    expect((await all(read(endpointAt(url, { token })))).failure).toMatchObject({ kind: "denied", message });
    expect(connections).toBe(0);
  });
});

const expired = (socket: WebSocket) => socket.send(errorOf("ACCESS_TOKEN_EXPIRED", 2));

describe("the token", () => {
  test("is the current one, in the first subprotocol and in the header; without one there is neither", async () => {
    const sent: (string | undefined)[][] = [];
    const { url } = await server((socket, { headers }) => {
      sent.push([headers["sec-websocket-protocol"]?.replace(", ", ","), headers.authorization]);
      socket.close(1000);
    });
    const tokens = ["one", TOKEN];
    const endpoint = endpointAt(url, { token: () => Promise.resolve(tokens.shift()) });
    for (let count = 0; count < 3; count++) expect((await all(read(endpoint))).failure).toBeUndefined();
    expect(sent).toEqual([
      ["jwt.token.one,daml.ws.auth", "Bearer one"],
      [`jwt.token.${TOKEN},daml.ws.auth`, `Bearer ${TOKEN}`],
      ["daml.ws.auth", undefined],
    ]);
  });

  test.each<[string, () => Promise<URL>, string[]]>([
    ["is forgotten where it is not accepted", () => rejecting(401), [TOKEN]],
    ["is forgotten when it expires on the stream", async () => (await server(expired)).url, [TOKEN]],
    ["is kept where the server is busy", () => rejecting(503), []],
  ])("%s", async (_what, at, tokens) => {
    const forgotten: string[] = [];
    const forget = (denied: string) => void forgotten.push(denied);
    const token = Object.assign(() => Promise.resolve(TOKEN), { forget });
    await all(read(endpointAt(await at(), { token })));
    expect(forgotten).toEqual(tokens);
  });
});

describe("a stream that is left", () => {
  test("by leaving the loop is closed, also by an error, which is unchanged", async () => {
    const own = new Error("own");
    for (const error of [undefined, own]) {
      const { url, gone } = await server((socket) => sendAll(socket, numbered(2_000)));
      const { signal } = new AbortController();
      const loop = async () => {
        for await (const message of read(endpointAt(url, { signal }))) {
          expect(message).toEqual({ number: 0 });
          if (error !== undefined) throw error;
          break;
        }
      };
      expect(await loop().catch((thrown: unknown) => thrown)).toBe(error);
      await gone();
      expect(getEventListeners(signal, "abort")).toEqual([]);
    }
  });

  test("by an abort while it waits for a message ends, and is closed", async () => {
    const { url, gone } = await server((socket) => sendAll(socket, numbered(1)));
    const end = new AbortController();
    const messages = read(endpointAt(url, { signal: end.signal }));
    await messages.next();
    const ending = all(messages);
    end.abort();
    expect((await ending).failure).toMatchObject({ kind: "lost" });
    await gone();
    expect(getEventListeners(end.signal, "abort")).toEqual([]);
  });

  test("by an abort before, or while the token is fetched, sends no request", async () => {
    const { url, sockets } = await server();
    expect((await all(read(endpointAt(url, { signal: AbortSignal.abort() })))).failure).toMatchObject({ kind: "lost" });
    const [end, token] = [new AbortController(), gate()];
    const endpoint = endpointAt(url, { signal: end.signal, token: () => token.opened.then(() => TOKEN) });
    const ending = all(read(endpoint));
    end.abort();
    token.open();
    expect((await ending).failure).toMatchObject({ kind: "lost" });
    expect(sockets).toEqual([]);
  });

  test("gives nothing more, and does not seem complete, though its server has ended it", async () => {
    const { url } = await server((socket) => {
      sendAll(socket, numbered(3));
      socket.close(1000);
    });
    const opened = await open(endpointAt(url));
    await until("the server has ended the stream", () => opened.hasEnded);
    const messages = opened[Symbol.asyncIterator]();
    expect(await messages.next()).toMatchObject({ value: { number: 0 } });
    opened.close();
    expect(await failureOf(messages.next())).toMatchObject({ kind: "lost", message: "the stream was closed" });
  });
});

describe("a server that is silent", () => {
  test("and ignores pings is lost", async () => {
    const { url, gone } = await server((socket) => socket.send("{}"), { autoPong: false });
    const { got, failure } = await all(read(endpointAt(url, { timeouts: { ping: 40 } })));
    expect(got).toEqual([{}]);
    expect(failure).toMatchObject({ kind: "lost", message: expect.stringContaining("answer to a ping") as string });
    await gone();
  });

  test("but answers pings is waited for on an endless stream, and not on a finite one", async () => {
    const { url } = await server((socket) => {
      let pings = 0;
      socket.on("ping", () => ++pings === 2 && socket.close(1000));
    });
    expect(await all(read(endpointAt(url, { timeouts: { ping: 500, message: 1 } })))).toEqual({
      got: [],
      failure: undefined,
    });
    const finite = await all(read(endpointAt((await server()).url, { timeouts: { ping: 20, message: 60 } }), true));
    expect(finite.failure).toMatchObject({ kind: "lost", message: expect.stringContaining("no message") as string });
  });
});

describe("an open stream that is not read", () => {
  test("is open when the server has accepted it, not before, and is responsive", async () => {
    const accepted = gate();
    const verifyClient = (_info: unknown, accept: (is: boolean) => void) =>
      void accepted.opened.then(() => accept(true));
    const url = await streaming(() => {}, { verifyClient });
    let isOpen = false;
    const opening = open(endpointAt(url)).then((opened) => {
      isOpen = true;
      return opened;
    });
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(isOpen).toBe(false);
    accepted.open();
    const opened = await opening;
    expect([opened.hasEnded, await opened.isResponsive()]).toEqual([false, true]);
  });

  test("queues messages in order, with the error after them", async () => {
    const { url } = await server((socket) => {
      sendAll(socket, numbered(3));
      socket.send(errorOf("OFFSET_AFTER_LEDGER_END", 12));
      socket.close(1000);
    });
    const opened = await open(endpointAt(url));
    await until("the stream is over", () => opened.hasEnded);
    expect(await opened.isResponsive()).toBe(false);
    const { got, failure } = await all(opened);
    expect([got, failure?.kind]).toEqual([numbered(3), "ahead"]);
  });

  test.each([
    ["in number", 3_000, 10_000],
    ["in size", 40, 1_000_000],
  ])(
    "leaves messages at the server that are too many %s; none is lost, and pings go on",
    async (_what, count, size) => {
      const filler = "x".repeat(size);
      let isSent = false;
      const { url, sockets } = await server((socket) => {
        void (async () => {
          for (let number = 0; number < count; number++) {
            socket.send(JSON.stringify({ number, filler }));
            // The reader runs in this process too.
            if (number % 50 === 0) await turn();
          }
          isSent = true;
        })();
      });
      const opened = await open(endpointAt(url, { timeouts: { ping: 400 } }));
      await until("nothing can be heard", async () => !(await opened.isResponsive()));
      let pings = 0;
      sockets[0]?.on("ping", () => void pings++);
      await until("the server sees pings", () => pings > 1 && isSent);
      expect(opened.hasEnded).toBe(false);
      // The queue takes 10 or 16 megabytes, the system a few of the rest.
      expect(sockets[0]?.bufferedAmount).toBeGreaterThan(8_000_000);
      let number = 0;
      for await (const message of opened) {
        expect(message).toMatchObject({ number });
        if (++number === count) break;
      }
      await until("the server answers again", () => opened.isResponsive());
    },
  );

  test.each<[string, (socket: WebSocket, end: AbortController) => void, boolean, number]>([
    ["after a cut", (socket) => socket.terminate(), true, 10_000],
    ["when the endpoint is aborted", (_socket, end) => end.abort(), true, 10_000],
    ["if its server ignores pings", () => {}, false, 20],
  ])("is not responsive %s, and has ended", async (_when, happens, autoPong, ping) => {
    const { url, sockets } = await server(() => {}, { autoPong });
    const end = new AbortController();
    const opened = await open(endpointAt(url, { signal: end.signal, timeouts: { ping } }));
    await until("the request is there", () => sockets.length === 1);
    if (sockets[0] !== undefined) happens(sockets[0], end);
    expect(await within(SOON_MS, "no answer", opened.isResponsive())).toBe(false);
    await until("the stream is over", () => opened.hasEnded);
    expect(await failureOf(opened[Symbol.asyncIterator]().next())).toMatchObject({ kind: "lost" });
  });

  test.each([
    [1008, "no more of you", 'close code 1008, "no more of you"'],
    [1011, "", "close code 1011)"],
    [1001, 'a "quoted"\nline', 'close code 1001, "a \\"quoted\\"\\nline"'],
  ])("says why it is closed, with %i", async (code, reason, said) => {
    const { url } = await server((socket) => socket.close(code, reason));
    const { failure } = await all(read(endpointAt(url)));
    expect(failure).toMatchObject({ kind: "lost", message: expect.stringContaining(said) as string });
  });

  test("is not responsive if its server announces a close that does not happen, and has ended then", async () => {
    const { url } = await server((socket) => {
      socket.send("{}");
      socket.close(1001);
      socket.pause();
    });
    const opened = await open(endpointAt(url, { timeouts: { ping: 20 } }));
    await until("the stream is over", () => opened.hasEnded, SOON_MS);
    expect(await opened.isResponsive()).toBe(false);
    const { got, failure } = await all(opened);
    expect(got).toEqual([{}]);
    expect(failure).toMatchObject({ kind: "lost", message: expect.stringContaining("1001") as string });
  });

  test("is not responsive if its server sends messages instead of pongs, and has not ended", async () => {
    const { url, sockets } = await server(() => {}, { autoPong: false });
    const opened = await open(endpointAt(url, { timeouts: { ping: 500 } }));
    await until("the request is there", () => sockets.length === 1);
    const sending = setInterval(() => sockets[0]?.send("{}"), 5);
    onTestFinished(() => clearInterval(sending));
    expect(await within(SOON_MS, "no answer", opened.isResponsive())).toBe(false);
    expect(opened.hasEnded).toBe(false);
  });
});

// Skipped without the openssl command line, which makes the certificates.
test.skipIf(!hasOpenssl).each([
  ["that is trusted a stream opens by TLS", true],
  ["other than the server's it is lost, and the token stays here", false],
])("with an own authority %s", async (_what, isTrusted) => {
  const { ca, key, cert } = createCertificates();
  const requests: string[] = [];
  const connected = (socket: WebSocket, request: IncomingMessage) => {
    requests.push(String(request.headers["sec-websocket-protocol"]));
    socket.once("message", () => socket.close(1000));
  };
  const url = await streaming(connected, {}, createTlsServer({ key, cert }));
  const trusted = isTrusted ? ca : createCertificates().ca;
  const { failure } = await all(read(endpointAt(url, { ca: trusted, ...withToken(TOKEN) })));
  expect(failure?.kind).toBe(isTrusted ? undefined : "lost");
  expect(requests).toEqual(isTrusted ? [`jwt.token.${TOKEN},daml.ws.auth`] : []);
});
