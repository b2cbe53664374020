import { getEventListeners } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import type { v3_5 } from "@canton-network/core-ledger-client-types";
import { describe, expect, test } from "vitest";
import type { WebSocket } from "ws";
import { LedgerError, type LedgerErrorKind } from "../../../src/ledger/participant/errors.js";
import type { Endpoint } from "../../../src/ledger/participant/http.js";
import { streamMessages } from "../../../src/ledger/participant/message-stream.js";
import type { JsonValue } from "../../../src/domain/json.js";
import { gate, until, within } from "../../fixtures/wait.js";
import { hasOpenssl, createCertificates } from "../../fixtures/certificates.js";
import { endpointAt, everythingOf, listening, closedPort, SOON_MS, streaming } from "./servers.js";

const PATH = "/v2/updates";
const REQUEST = { beginExclusive: 5, updateFormat: { party: "Zoë ☂" } };
const TOKEN = "eyJhbGciOiJub25lIn0.c2VjcmV0.c2lnbmF0dXJl";

const open = (endpoint: Endpoint, hasEnd = false) => streamMessages(endpoint, PATH, REQUEST, hasEnd);
const withToken = (token: string) => ({ token: () => Promise.resolve(token) });

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

const numbered = (count: number): JsonValue[] => Array.from({ length: count }, (_, number) => ({ number }));

/** Sends many messages, then closes normally. */
function sendAll(socket: WebSocket, messages: readonly JsonValue[]): void {
  for (const message of messages) socket.send(JSON.stringify(message));
  socket.close(1000);
}

describe("a stream", () => {
  test("sends its request as one message, to the path below the base, and nothing else", async () => {
    const received: { text: string; isBinary: boolean }[] = [];
    const paths: (string | undefined)[] = [];
    const url = await streaming((socket, request) => {
      paths.push(request.url);
      socket.on("message", (data: Buffer, isBinary) => {
        received.push({ text: data.toString(), isBinary });
        // Any further message would arrive before the answer to this ping.
        socket.ping();
        socket.once("pong", () => socket.close(1000));
      });
    });
    expect(await all(open(endpointAt(new URL("/ledger/", url))))).toEqual({ got: [], failure: undefined });
    expect(paths).toEqual([`/ledger${PATH}`]);
    expect(received).toEqual([{ text: JSON.stringify(REQUEST), isBinary: false }]);
  });

  test("yields the messages in order, and ends with the server", async () => {
    const url = await afterRequest((socket) => sendAll(socket, numbered(2_500)));
    expect(await all(open(endpointAt(url)))).toEqual({ got: numbered(2_500), failure: undefined });
  });

  test("without a message ends too", async () => {
    const url = await afterRequest((socket) => socket.close(1000));
    expect(await all(open(endpointAt(url)))).toEqual({ got: [], failure: undefined });
  });

  test("yields a message as soon as it arrives", async () => {
    const sockets: WebSocket[] = [];
    const url = await afterRequest((socket) => void sockets.push(socket));
    const messages = open(endpointAt(url));
    for (const number of [1, 2, 3]) {
      const next = messages.next();
      await until("the request is there", () => sockets.length === 1);
      sockets[0]?.send(JSON.stringify({ number }));
      expect(await within(SOON_MS, "a message", next)).toEqual({ value: { number }, done: false });
    }
    await messages.return(undefined);
  });

  test("accepts large and fragmented messages", async () => {
    const large = { blob: "☂".repeat(1_000_000) };
    const url = await afterRequest((socket) => {
      socket.send(JSON.stringify(large));
      socket.send('{"in":', { fin: false });
      socket.send('"parts"}', { fin: true });
      socket.close(1000);
    });
    expect(await all(open(endpointAt(url)))).toEqual({ got: [large, { in: "parts" }], failure: undefined });
  });
});

const cantonError = (code: string, grpcCodeValue: number): string => {
  const body: v3_5.components["schemas"]["JsCantonError"] = {
    code,
    cause: "because",
    correlationId: "c",
    traceId: "t",
    context: {},
    resources: [],
    errorCategory: code === "SERVICE_NOT_RUNNING" ? 1 : 9,
    grpcCodeValue,
  };
  return JSON.stringify(body);
};

describe("an error as a message", () => {
  test.each<[string, number, LedgerErrorKind]>([
    ["PARTICIPANT_PRUNED_DATA_ACCESSED", 9, "pruned"],
    ["OFFSET_AFTER_LEDGER_END", 11, "ahead"],
    ["PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END", 11, "ahead"],
    ["ACCESS_TOKEN_EXPIRED", 10, "denied"],
    ["SERVICE_NOT_RUNNING", 14, "busy"],
    ["INVALID_ARGUMENT", 3, "refused"],
  ])("%s ends the stream after the messages before it", async (code, grpcCodeValue, kind) => {
    const url = await afterRequest((socket) => {
      for (const message of numbered(3)) socket.send(JSON.stringify(message));
      socket.send(cantonError(code, grpcCodeValue));
      socket.send("{}");
      socket.close(1000);
    });
    const { got, failure } = await all(open(endpointAt(url, withToken(TOKEN))));
    expect(got).toEqual(numbered(3));
    expect(failure).toMatchObject({ kind, code });
    expect(failure?.message).toContain("because");
  });

  test("ends the stream though the server does not close it", async () => {
    let isClosed = false;
    const url = await afterRequest((socket) => {
      socket.on("close", () => {
        isClosed = true;
      });
      socket.send(cantonError("SERVICE_NOT_RUNNING", 14));
    });
    expect((await all(open(endpointAt(url)))).failure).toMatchObject({ kind: "busy" });
    await until("the server's socket is closed", () => isClosed);
  });
});

describe("a stream that is cut", () => {
  test.each<[string, (socket: WebSocket, request: IncomingMessage) => void]>([
    ["by its connection", (_socket, request) => void request.socket.end()],
    ["by a reset", (_socket, request) => void request.socket.resetAndDestroy()],
    ["as the server goes away", (socket) => socket.close(1001)],
    ["for an error of the server", (socket) => socket.close(1011, "broken")],
  ])("%s is lost after the messages before it", async (_how, cut) => {
    const sockets: [WebSocket, IncomingMessage][] = [];
    const url = await afterRequest((socket, request) => {
      for (const message of numbered(3)) socket.send(JSON.stringify(message));
      sockets.push([socket, request]);
    });
    const messages = open(endpointAt(url, withToken(TOKEN)));
    const first = [await messages.next(), await messages.next(), await messages.next()];
    expect(first.map(({ value }) => value as JsonValue)).toEqual(numbered(3));
    for (const [socket, request] of sockets) cut(socket, request);
    const { got, failure } = await all(messages);
    expect(got).toEqual([]);
    expect(failure).toMatchObject({ kind: "lost" });
    expect(everythingOf(failure)).not.toContain(TOKEN);
  });

  test("within a message is lost, without a partial message", async () => {
    const url = await afterRequest((socket, request) => {
      socket.send('{"number":0}');
      socket.send('{"number":', { fin: false }, () => request.socket.end());
    });
    const { got, failure } = await all(open(endpointAt(url)));
    expect(got).toEqual(numbered(1));
    expect(failure).toMatchObject({ kind: "lost" });
  });

  test.each(['{"number":', "", "<html>", "undefined"])(
    "by a message that is not JSON (%j) is unreadable",
    async (text) => {
      const url = await afterRequest((socket) => {
        socket.send('{"number":0}');
        socket.send(text);
      });
      const { got, failure } = await all(open(endpointAt(url)));
      expect(got).toEqual(numbered(1));
      expect(failure).toMatchObject({ kind: "unreadable" });
    },
  );
});

describe("a stream that does not open", () => {
  test.each<[number, LedgerErrorKind]>([
    [401, "denied"],
    [403, "denied"],
    [404, "refused"],
    [429, "busy"],
    [503, "busy"],
  ])("for status %i is %s", async (status, kind) => {
    const server = createServer();
    server.on("upgrade", (_request, socket) => {
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno`);
    });
    const url = await listening(server);
    const { got, failure } = await all(open(endpointAt(url, withToken(TOKEN))));
    expect(got).toEqual([]);
    expect(failure).toMatchObject({ kind });
    expect(failure?.message).toContain(String(status));
    expect(everythingOf(failure)).not.toContain(TOKEN);
  });

  test("at a server without WebSocket is refused", async () => {
    const url = await listening(createServer((_request, response) => void response.end("hello")));
    expect((await all(open(endpointAt(url)))).failure).toMatchObject({ kind: "refused" });
  });

  test("at a closed port is lost", async () => {
    expect((await all(open(endpointAt(await closedPort(), withToken(TOKEN))))).failure).toMatchObject({ kind: "lost" });
  });

  test("at a silent server is lost after the timeout", async () => {
    const server = createServer();
    const sockets: Socket[] = [];
    server.on("upgrade", (_request, socket: Socket) => void sockets.push(socket));
    const url = await listening(server);
    expect((await all(open(endpointAt(url, { timeouts: { open: 100 } })))).failure).toMatchObject({ kind: "lost" });
    await until("the server's socket is closed", () =>
      sockets.every(({ destroyed, readableEnded }) => destroyed || readableEnded),
    );
    for (const socket of sockets) socket.destroy();
  });

  test("is not tried if the token fails, and fails with the same error", async () => {
    let connections = 0;
    const url = await streaming(() => void connections++);
    const messages = open(endpointAt(url, { token: () => Promise.reject(new Error("no token")) }));
    await expect(messages.next()).rejects.toThrow("no token");
    expect(connections).toBe(0);
  });

  test.each(["two words", "two\nlines", "a=", "ü"])(
    "as no header can carry its token (%j) fails, and keeps it",
    async (token) => {
      let connections = 0;
      const url = await streaming(() => void connections++);
      const { failure } = await all(open(endpointAt(url, withToken(token))));
      expect(failure?.message).not.toContain(token);
      expect(connections).toBe(0);
    },
  );
});

/** The subprotocols that each client offered. The server selects daml.ws.auth, as a participant does. */
async function offers() {
  const offered: (readonly string[])[] = [];
  const headers: (string | undefined)[] = [];
  const url = await streaming((socket, request) => {
    headers.push(request.headers.authorization);
    offered.push((request.headers["sec-websocket-protocol"] ?? "").split(/, */));
    socket.once("message", () => socket.close(1000));
  });
  return { url, offered, headers };
}

describe("the subprotocols", () => {
  test("carry the token that is current when the stream opens, first, and so does the header", async () => {
    const { url, offered, headers } = await offers();
    const tokens = ["one", TOKEN];
    const endpoint = endpointAt(url, { token: () => Promise.resolve(tokens.shift()) });
    for (let count = 0; count < 2; count++) expect((await all(open(endpoint))).failure).toBeUndefined();
    expect(offered).toEqual([
      ["jwt.token.one", "daml.ws.auth"],
      [`jwt.token.${TOKEN}`, "daml.ws.auth"],
    ]);
    expect(headers).toEqual(["Bearer one", `Bearer ${TOKEN}`]);
  });

  test("carry no token if there is none", async () => {
    const { url, offered, headers } = await offers();
    expect((await all(open(endpointAt(url)))).failure).toBeUndefined();
    expect(offered).toEqual([["daml.ws.auth"]]);
    expect(headers).toEqual([undefined]);
  });

  test("that the server does not select fail the stream, without the token in the message", async () => {
    const url = await streaming(() => {}, { handleProtocols: () => false });
    const { failure } = await all(open(endpointAt(url, withToken(TOKEN))));
    expect(failure).toMatchObject({ kind: "lost" });
    expect(everythingOf(failure)).not.toContain(TOKEN);
  });
});

describe("a token that is not accepted", () => {
  test.each<[string, number]>([
    ["is forgotten", 401],
    ["is kept where the server is busy", 503],
  ])("%s (status %i)", async (_what, status) => {
    const server = createServer();
    server.on("upgrade", (_request, socket) => {
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    });
    const url = await listening(server);
    let forgotten = 0;
    const token = Object.assign(() => Promise.resolve(TOKEN), { forget: () => void forgotten++ });
    await all(open(endpointAt(url, { token })));
    expect(forgotten).toBe(status === 401 ? 1 : 0);
  });
});

/** A server that sends a message, and observes the end of the connection. */
async function watched() {
  const state = { opened: 0, closed: 0 };
  const url = await afterRequest((socket) => {
    state.opened++;
    socket.on("close", () => void state.closed++);
    socket.send("{}");
  });
  return { url, gone: () => until("the server's socket is closed", () => state.opened === 1 && state.closed === 1) };
}

describe("a stream that is left", () => {
  test("by leaving the loop is closed", async () => {
    const { url, gone } = await watched();
    const { signal } = new AbortController();
    for await (const message of open(endpointAt(url, { signal }))) {
      expect(message).toEqual({});
      break;
    }
    await gone();
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("by an error in the loop is closed, and the error is unchanged", async () => {
    const { url, gone } = await watched();
    const own = new Error("own");
    const loop = async () => {
      for await (const _ of open(endpointAt(url))) throw own;
    };
    await expect(loop()).rejects.toBe(own);
    await gone();
  });

  test("while the server floods it is closed", async () => {
    let isClosed = false;
    const url = await afterRequest((socket) => {
      socket.on("close", () => {
        isClosed = true;
      });
      for (const message of numbered(20_000)) socket.send(JSON.stringify(message));
    });
    const messages = open(endpointAt(url));
    await messages.next();
    await messages.return(undefined);
    await expect.poll(() => isClosed).toBe(true);
  });
});

/** Consumes a stream until it ends or fails. */
const settle = (messages: AsyncGenerator<JsonValue>): Promise<unknown> =>
  within(1_000, "the end of the stream", all(messages));

describe("an abort", () => {
  test("ends a stream that waits for a message, and closes it", async () => {
    const { url, gone } = await watched();
    const end = new AbortController();
    const messages = open(endpointAt(url, { signal: end.signal }));
    await messages.next();
    const ending = settle(messages);
    end.abort();
    await ending;
    await gone();
    expect(getEventListeners(end.signal, "abort")).toEqual([]);
  });

  test("ends a stream that is not open yet", async () => {
    const server = createServer();
    const arrived = gate();
    server.on("upgrade", () => arrived.open());
    const url = await listening(server);
    const end = new AbortController();
    const ending = settle(open(endpointAt(url, { signal: end.signal })));
    await arrived.opened;
    end.abort();
    await ending;
    expect(getEventListeners(end.signal, "abort")).toEqual([]);
  });

  test("before a stream prevents the request", async () => {
    const requests: string[] = [];
    const url = await streaming((socket) =>
      socket.on("message", (data: Buffer) => void requests.push(data.toString())),
    );
    await settle(open(endpointAt(url, { signal: AbortSignal.abort() })));
    expect(requests).toEqual([]);
  });

  test("while the token is fetched prevents the request", async () => {
    const requests: string[] = [];
    const url = await streaming((socket) =>
      socket.on("message", (data: Buffer) => void requests.push(data.toString())),
    );
    const end = new AbortController();
    const token = gate();
    const endpoint = endpointAt(url, { signal: end.signal, token: () => token.opened.then(() => TOKEN) });
    const ending = settle(open(endpoint));
    end.abort();
    token.open();
    await ending;
    expect(requests).toEqual([]);
  });
});

describe("a server that is silent", () => {
  test("and ignores pings is lost", async () => {
    let isClosed = false;
    const url = await streaming(
      (socket) => {
        socket.once("message", () => socket.send("{}"));
        socket.on("close", () => {
          isClosed = true;
        });
      },
      { autoPong: false },
    );
    const { got, failure } = await all(open(endpointAt(url, { timeouts: { ping: 40 } })));
    expect(got).toEqual([{}]);
    expect(failure).toMatchObject({ kind: "lost" });
    await until("the server's socket is closed", () => isClosed);
  });

  test("but answers pings is waited for on an endless stream", async () => {
    let pings = 0;
    const url = await streaming((socket) => {
      socket.on("ping", () => {
        if (++pings === 4) sendAll(socket, numbered(1));
      });
    });
    const endpoint = endpointAt(url, { timeouts: { ping: 500, message: 600 } });
    expect(await all(open(endpoint))).toEqual({ got: numbered(1), failure: undefined });
    expect(pings).toBe(4);
  });

  test("but answers pings times out on a finite stream", async () => {
    const url = await afterRequest((socket) => socket.send("{}"));
    const { got, failure } = await all(open(endpointAt(url, { timeouts: { ping: 20, message: 60 } }), true));
    expect(got).toEqual([{}]);
    expect(failure).toMatchObject({ kind: "lost" });
  });

  test("but sends messages instead of pongs is waited for", async () => {
    const url = await streaming(
      (socket) => {
        let number = 0;
        const timer = setInterval(() => {
          if (number < 20) socket.send(JSON.stringify({ number: number++ }));
          else socket.close(1000);
        }, 100);
        socket.on("close", () => clearInterval(timer));
      },
      { autoPong: false },
    );
    const { got, failure } = await all(open(endpointAt(url, { timeouts: { ping: 500, message: 500 } }), true));
    expect(failure).toBeUndefined();
    expect(got).toEqual(numbered(20));
  });
});

describe.skipIf(!hasOpenssl)("with an own authority", () => {
  test.each<[string, boolean]>([
    ["that is trusted a stream opens by TLS", true],
    ["other than the server's it is lost, and the token stays here", false],
  ])("%s", async (_what, isTrusted) => {
    const { ca, key, cert } = createCertificates();
    const requests: string[] = [];
    const connected = (socket: WebSocket, request: IncomingMessage) => {
      requests.push(String(request.headers["sec-websocket-protocol"]));
      socket.once("message", () => sendAll(socket, numbered(3)));
    };
    const url = await streaming(connected, {}, createTlsServer({ key, cert }));
    const { got, failure } = await all(
      open(endpointAt(url, { ca: isTrusted ? ca : createCertificates().ca, ...withToken(TOKEN) })),
    );
    expect(got).toEqual(isTrusted ? numbered(3) : []);
    expect(failure?.kind).toBe(isTrusted ? undefined : "lost");
    expect(requests).toEqual(isTrusted ? [`jwt.token.${TOKEN},daml.ws.auth`] : []);
  });
});
