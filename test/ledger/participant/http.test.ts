import { createServer as createTlsServer } from "node:https";
import type { v3_5 } from "@canton-network/core-ledger-client-types";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { LedgerError, LedgerErrorKind } from "../../../src/ledger/participant/errors.js";
import { callParticipant, sendRequest, type Timeouts, endpointUrl } from "../../../src/ledger/participant/http.js";
import type { JsonObject, JsonValue } from "../../../src/domain/json.js";
import { keepCollecting } from "../../fixtures/heap.js";
import { gate, until, within } from "../../fixtures/wait.js";
import { hasOpenssl, type Certificates, createCertificates } from "../../fixtures/certificates.js";
import {
  endpointAt,
  everythingOf,
  failureOf,
  listening,
  closedPort,
  type Seen,
  seen,
  serving,
  SOON_MS,
} from "./servers.js";

const PATH = "/v2/state/ledger-end";
const MAX_BYTES = 8 * 1024 * 1024;
const TOKEN = "eyJhbGciOiJub25lIn0.c2VjcmV0.c2lnbmF0dXJl";

const waits = (answer: number): Partial<Timeouts> => ({ answer });
const withToken = (token: string) => ({ token: () => Promise.resolve(token) });

/** A server that records its requests, and sends the same response to all. */
async function answering(body: string, status = 200, headers: Readonly<Record<string, string>> = {}) {
  const requests: Seen[] = [];
  const url = await serving(async (request, response) => {
    requests.push(await seen(request));
    response.writeHead(status, headers).end(body);
  });
  return { url, requests };
}

describe("a path below the base", () => {
  test.each([
    ["http://h:1", "http://h:1/v2/x"],
    ["http://h:1/", "http://h:1/v2/x"],
    ["http://h:1/ledger", "http://h:1/ledger/v2/x"],
    ["https://h/a/b/", "https://h/a/b/v2/x"],
  ])("%s gives %s", (base, whole) => {
    expect(endpointUrl({ url: new URL(base) }, "/v2/x").href).toBe(whole);
  });

  test.each(["", "/", "/ledger", "/ledger/"])("is requested at the base %j", async (base) => {
    const { url, requests } = await answering("{}");
    await callParticipant(endpointAt(new URL(base, url)), "GET", PATH);
    expect(requests.map(({ path }) => path)).toEqual([`${base.replace(/\/$/, "")}${PATH}`]);
  });

  test("keeps its query", async () => {
    const { url, requests } = await answering("{}");
    await callParticipant(endpointAt(new URL("/api", url)), "GET", "/v2/state/connected-synchronizers?party=a%3A%3A1");
    expect(requests[0]?.path).toBe("/api/v2/state/connected-synchronizers?party=a%3A%3A1");
  });
});

describe("a request", () => {
  test("has the current token, if any", async () => {
    const { url, requests } = await answering("{}");
    const tokens = ["one", "two", undefined];
    const endpoint = endpointAt(url, { token: () => Promise.resolve(tokens.shift()) });
    for (let count = 0; count < 3; count++) await callParticipant(endpoint, "GET", PATH);
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer one", "Bearer two", undefined]);
  });

  test("has its body as JSON, with any characters", async () => {
    const { url, requests } = await answering("{}");
    const body: JsonObject = { party: "Zoë ☂ 𝄞", list: [1, null, true, { deep: "" }] };
    await callParticipant(endpointAt(url), "POST", "/v2/updates/update-by-id", body);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ method: "POST", headers: { "content-type": "application/json" } });
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual(body);
  });

  test("without a body has no content type", async () => {
    const { url, requests } = await answering("{}");
    await callParticipant(endpointAt(url), "GET", PATH);
    expect(requests[0]).toMatchObject({ method: "GET", body: "", headers: { accept: "application/json" } });
    expect(requests[0]?.headers).not.toHaveProperty("content-type");
  });

  test("is not sent if the token fails, and fails with the same error", async () => {
    const { url, requests } = await answering("{}");
    const endpoint = endpointAt(url, { token: () => Promise.reject(new Error("no token")) });
    await expect(callParticipant(endpoint, "GET", PATH)).rejects.toThrow("no token");
    expect(requests).toEqual([]);
  });

  test.each(["two\nlines", "umlaut-ü-☂"])(
    "that no header can carry a token for (%j) fails, and keeps it",
    async (token) => {
      const { url, requests } = await answering("{}");
      const failure = await failureOf(callParticipant(endpointAt(url, withToken(token)), "GET", PATH));
      expect(everythingOf(failure)).not.toContain(token);
      expect(requests).toEqual([]);
    },
  );
});

describe("an answer", () => {
  test.each<[JsonValue]>([[{ offset: 5 }], [[1, "two"]], ["text"], [5], [null]])(
    "of JSON is given: %j",
    async (value) => {
      const { url } = await answering(JSON.stringify(value));
      expect(await callParticipant(endpointAt(url), "GET", PATH)).toEqual(value);
    },
  );

  test("is decoded as UTF-8 across chunks", async () => {
    const text = Buffer.from(JSON.stringify({ party: "Zoë ☂ 𝄞" }));
    const url = await serving((_request, response) => {
      void (async () => {
        for (const byte of text) await new Promise((sent) => response.write(Buffer.of(byte), sent));
        response.end();
      })();
    });
    expect(await callParticipant(endpointAt(url), "GET", PATH)).toEqual({ party: "Zoë ☂ 𝄞" });
  });

  test("of status 201 is a success too", async () => {
    const { url } = await answering('{"made":true}', 201);
    expect(await callParticipant(endpointAt(url), "POST", PATH, {})).toEqual({ made: true });
  });

  test("just below the size limit is returned", async () => {
    const text = "x".repeat(MAX_BYTES - 2);
    const { url } = await answering(JSON.stringify(text));
    expect(await callParticipant(endpointAt(url), "GET", PATH)).toBe(text);
  });
});

const errorBody = (code: string): string => {
  const error: v3_5.components["schemas"]["JsCantonError"] = {
    code,
    cause: "because",
    context: { participant: "p" },
    errorCategory: categories[code] ?? 9,
    grpcCodeValue: 9,
  };
  return JSON.stringify(error);
};

const categories: Readonly<Record<string, number>> = { NA: -1, SERVICE_NOT_RUNNING: 1 };

describe("an error of the documented shape", () => {
  test.each<[number, string, LedgerErrorKind]>([
    [400, "PARTICIPANT_PRUNED_DATA_ACCESSED", "pruned"],
    [400, "OFFSET_AFTER_LEDGER_END", "ahead"],
    [400, "INVALID_ARGUMENT", "refused"],
    [401, "NA", "denied"],
    [404, "CONTRACT_EVENTS_NOT_FOUND", "refused"],
    [413, "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED", "refused"],
    [503, "SERVICE_NOT_RUNNING", "busy"],
  ])("of status %i and code %s is thrown as %s", async (status, code, kind) => {
    const { url } = await answering(errorBody(code), status, { "content-type": "application/json" });
    const failure = await failureOf(callParticipant(endpointAt(url, withToken(TOKEN)), "GET", PATH));
    expect(failure).toMatchObject({ kind, code });
    expect(failure.message).toContain("because");
    expect(everythingOf(failure)).not.toContain(TOKEN);
  });
});

describe("an answer that is not JSON", () => {
  test.each<[number, string, LedgerErrorKind]>([
    [200, "<html>hello</html>", "unreadable"],
    [200, '{"offset":', "unreadable"],
    [200, "", "unreadable"],
    [204, "", "unreadable"],
    [401, "The supplied authentication is invalid", "denied"],
    [403, "", "denied"],
    [404, "<html>not here</html>", "refused"],
    [502, "<html>bad gateway</html>", "busy"],
    [503, "", "busy"],
  ])("with status %i and the text %j is %s", async (status, text, kind) => {
    const { url } = await answering(text, status);
    expect(await failureOf(callParticipant(endpointAt(url), "GET", PATH))).toMatchObject({
      kind,
      code: undefined,
    });
  });

  test("is reported with its path", async () => {
    const { url } = await answering("<html>");
    expect((await failureOf(callParticipant(endpointAt(url), "GET", PATH))).message).toContain(PATH);
  });
});

test("a redirect is not followed, so that the token is sent to no other host", async () => {
  const elsewhere = await answering("{}");
  const { url } = await answering("", 307, { location: elsewhere.url.href });
  expect(await failureOf(callParticipant(endpointAt(url, withToken(TOKEN)), "GET", PATH))).toMatchObject({
    kind: "refused",
  });
  expect(elsewhere.requests).toEqual([]);
});

const expectLost = (failure: LedgerError, url: URL): void => {
  expect(failure).toMatchObject({ kind: "lost", code: undefined });
  expect(failure.message).toContain(`${url.origin} cannot be reached: `);
  expect(everythingOf(failure)).not.toContain(TOKEN);
};

describe("a connection", () => {
  test("that is refused is lost", async () => {
    const url = await closedPort();
    expectLost(await failureOf(callParticipant(endpointAt(url, withToken(TOKEN)), "GET", PATH)), url);
  });

  test("to a name that does not exist is lost", async () => {
    const url = new URL("http://nobody.invalid");
    expectLost(await failureOf(callParticipant(endpointAt(url), "GET", PATH)), url);
  });

  test("that ends before the answer is lost", async () => {
    const url = await serving((request) => void request.socket.destroy());
    expectLost(await failureOf(callParticipant(endpointAt(url, withToken(TOKEN)), "GET", PATH)), url);
  });

  test("that ends within the response is lost", async () => {
    const url = await serving((request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("{}", () => request.socket.destroy());
    });
    expectLost(await failureOf(callParticipant(endpointAt(url), "GET", PATH)), url);
  });

  test("with another protocol is refused: it is another port", async () => {
    // As a gRPC port answers HTTP/1.1: a frame of HTTP/2.
    const url = await serving((request) => void request.socket.end(Buffer.from("000012040000000000", "hex")));
    const failure = await failureOf(callParticipant(endpointAt(url), "GET", PATH));
    expect(failure).toMatchObject({ kind: "refused", code: undefined });
    expect(failure.message).toContain(`${url.origin} cannot be reached: it does not speak HTTP/1.1: it may be the`);
  });
});

describe("a server that hangs", () => {
  test.each<[string, string]>([
    ["before it answers", ""],
    ["amid its answer", '{"offset":'],
  ])("%s times out", async (_when, part) => {
    const url = await serving((_request, response) => void (part === "" || response.write(part)));
    const began = performance.now();
    const answer = callParticipant(endpointAt(url, { timeouts: waits(150), ...withToken(TOKEN) }), "GET", PATH);
    expectLost(await within(SOON_MS, "the end of a call", failureOf(answer)), url);
    expect(performance.now() - began).toBeGreaterThan(100);
  });

  test("and sends without end times out too", async () => {
    const url = await serving((_request, response) => {
      const timer = setInterval(() => response.write(" "), 10);
      response.on("close", () => clearInterval(timer));
    });
    const answer = callParticipant(endpointAt(url, { timeouts: waits(150) }), "GET", PATH);
    expectLost(await within(SOON_MS, "the end of a call", failureOf(answer)), url);
  });
});

// A signal of AbortSignal.timeout may be collected before it fires (nodejs/node#57736): then nothing ends the wait.
test("garbage collection does not keep a call from timing out", async () => {
  const url = await serving(() => undefined);
  const answers = Array.from({ length: 20 }, () =>
    failureOf(callParticipant(endpointAt(url, { timeouts: waits(300) }), "GET", PATH)),
  );
  onTestFinished(keepCollecting());
  for (const error of await within(SOON_MS, "the end of all calls", Promise.all(answers))) {
    expectLost(error, url);
    expect(error.message).toContain("no answer within 300 ms");
  }
});

test("an oversized response is cut", async () => {
  let sent = 0;
  let isClosed = false;
  const url = await serving((_request, response) => {
    const chunk = Buffer.alloc(1024 * 1024, " ");
    const more = () => {
      sent += chunk.length;
      if (sent < MAX_BYTES * 20) response.write(chunk, more);
    };
    response.on("close", () => {
      isClosed = true;
    });
    response.on("error", () => {});
    more();
  });
  expectLost(await within(SOON_MS, "the end of a call", failureOf(callParticipant(endpointAt(url), "GET", PATH))), url);
  await until("the server's connection is closed", () => isClosed);
  expect(sent).toBeLessThan(MAX_BYTES * 20);
});

test("an oversized response is reported as such", async () => {
  const { url } = await answering(JSON.stringify("x".repeat(MAX_BYTES)));
  const failure = await failureOf(callParticipant(endpointAt(url), "GET", PATH));
  expect(failure.message).toContain(`exceeds ${MAX_BYTES} bytes`);
});

describe("an abort", () => {
  test("ends a waiting call at once, and its connection", async () => {
    const end = new AbortController();
    const arrived = gate();
    let isClosed = false;
    const url = await serving((_request, response) => {
      response.on("close", () => {
        isClosed = true;
      });
      arrived.open();
    });
    const failing = failureOf(
      callParticipant(endpointAt(url, { signal: end.signal, ...withToken(TOKEN) }), "GET", PATH),
    );
    await arrived.opened;
    end.abort();
    expectLost(await within(1_000, "the end of the call", failing), url);
    await until("the server's connection is closed", () => isClosed);
  });

  test("ends a call within its response at once", async () => {
    const end = new AbortController();
    const arrived = gate();
    const url = await serving((_request, response) => {
      response.write('{"offset":', () => arrived.open());
    });
    const failing = failureOf(callParticipant(endpointAt(url, { signal: end.signal }), "GET", PATH));
    await arrived.opened;
    end.abort();
    expectLost(await within(1_000, "the end of the call", failing), url);
  });

  test("before a call prevents the request", async () => {
    const { url, requests } = await answering("{}");
    const failing = failureOf(callParticipant(endpointAt(url, { signal: AbortSignal.abort() }), "GET", PATH));
    expectLost(await within(1_000, "the end of the call", failing), url);
    expect(requests).toEqual([]);
  });
});

test("sendRequest returns any status with its text", async () => {
  const { url, requests } = await answering("not here", 404);
  const options = { method: "POST", ca: undefined, signal: new AbortController().signal, timeout: SOON_MS } as const;
  const headers = { "x-own": "yes" };
  expect(await sendRequest(new URL("/x?y=z", url), { ...options, headers, body: "a=b" })).toEqual({
    status: 404,
    text: "not here",
  });
  expect(requests).toMatchObject([{ method: "POST", path: "/x?y=z", body: "a=b", headers: { "x-own": "yes" } }]);
});

// Skipped without the openssl command line, which makes the certificates.
describe.skipIf(!hasOpenssl)("with an own authority", () => {
  let own: Certificates;
  let other: Certificates;
  beforeAll(() => {
    own = createCertificates();
    other = createCertificates();
  });

  async function servingTls() {
    const authorizations: (string | undefined)[] = [];
    const server = createTlsServer({ key: own.key, cert: own.cert }, (request, response) => {
      authorizations.push(request.headers.authorization);
      response.end('{"offset":7}');
    });
    return { url: await listening(server, "https"), authorizations };
  }

  test("a participant is called over https", async () => {
    const { url, authorizations } = await servingTls();
    expect(await callParticipant(endpointAt(url, { ca: own.ca, ...withToken(TOKEN) }), "GET", PATH)).toEqual({
      offset: 7,
    });
    expect(authorizations).toEqual([`Bearer ${TOKEN}`]);
  });

  test("one of several root certificates is enough", async () => {
    const { url } = await servingTls();
    expect(await callParticipant(endpointAt(url, { ca: other.ca + own.ca }), "GET", PATH)).toEqual({ offset: 7 });
  });

  test.each<[string, () => string | undefined]>([
    ["no authority of one's own", () => undefined],
    ["another authority", () => other.ca],
  ])("a participant is not trusted with %s, and gets no token", async (_what, ca) => {
    const { url, authorizations } = await servingTls();
    expectLost(await failureOf(callParticipant(endpointAt(url, { ca: ca(), ...withToken(TOKEN) }), "GET", PATH)), url);
    expect(authorizations).toEqual([]);
  });

  test("a root certificate applies to its own endpoint only", async () => {
    const { url } = await servingTls();
    await callParticipant(endpointAt(url, { ca: own.ca }), "GET", PATH);
    expectLost(await failureOf(callParticipant(endpointAt(url), "GET", PATH)), url);
  });

  test("a certificate for another host name is not trusted", async () => {
    const { url, authorizations } = await servingTls();
    const named = new URL(url.href.replace("127.0.0.1", "localhost"));
    expectLost(
      await failureOf(callParticipant(endpointAt(named, { ca: own.ca, ...withToken(TOKEN) }), "GET", PATH)),
      named,
    );
    expect(authorizations).toEqual([]);
  });

  test("an invalid root certificate fails the call", async () => {
    const { url } = await servingTls();
    const failure = await failureOf(
      callParticipant(endpointAt(url, { ca: "-----BEGIN CERTIFICATE-----\nno\n" }), "GET", PATH),
    );
    expect(failure.kind).toBe("lost");
  });
});
