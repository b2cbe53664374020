/** Calls of a participant over HTTP: what is sent, what an answer means, and what bounds the wait and the memory. */
import { createServer as createTlsServer } from "node:https";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { LedgerError, LedgerErrorKind } from "../../../src/ledger/participant/errors.js";
import { callParticipant, endpointUrl, Pace } from "../../../src/ledger/participant/http.js";
import { MessageStream } from "../../../src/ledger/participant/message-stream.js";
import type { JsonObject } from "../../../src/util/json.js";
import { keepCollecting } from "../../fixtures/heap.js";
import { gate, until, within } from "../../fixtures/wait.js";
import { hasOpenssl, type Certificates, createCertificates } from "../../fixtures/certificates.js";
import {
  closedPort,
  endpointAt,
  endless,
  errorOf,
  everythingOf,
  failureOf,
  listening,
  type Seen,
  seen,
  serving,
  SOON_MS,
} from "./servers.js";

const PATH = "/v2/state/ledger-end";
const MAX_BYTES = 8 * 1024 * 1024;
const TOKEN = "eyJhbGciOiJub25lIn0.c2VjcmV0.c2lnbmF0dXJl";

const withToken = (token: string) => ({ token: () => Promise.resolve(token) });

/** The failure of a call with a token. */
function fails(url: URL, more: Partial<Parameters<typeof endpointAt>[1]> = {}): Promise<LedgerError> {
  const calling = callParticipant(endpointAt(url, { ...withToken(TOKEN), ...more }), "GET", PATH);
  return within(SOON_MS, "a failure", failureOf(calling));
}

/** A server that records its requests, and sends the same response to all. */
async function answering(body: string, status = 200, headers: Readonly<Record<string, string>> = {}) {
  const requests: Seen[] = [];
  const url = await serving(async (request, response) => {
    requests.push(await seen(request));
    response.writeHead(status, headers).end(body);
  });
  return { url, requests };
}

test.each([
  ["http://h:1", "http://h:1/v2/x"],
  ["http://h:1/", "http://h:1/v2/x"],
  ["http://h:1/ledger", "http://h:1/ledger/v2/x"],
  ["https://h/a/b/", "https://h/a/b/v2/x"],
])("the base %s gives %s", (base, whole) => {
  expect(endpointUrl({ url: new URL(base) }, "/v2/x").href).toBe(whole);
});

describe("a request", () => {
  test("has the current token, if any, its query, and no content type without a body", async () => {
    const { url, requests } = await answering("{}");
    const tokens = ["one", "two", undefined];
    const endpoint = endpointAt(new URL("/api", url), { token: () => Promise.resolve(tokens.shift()) });
    for (let count = 0; count < 3; count++) await callParticipant(endpoint, "GET", `${PATH}?party=a%3A%3A1`);
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer one", "Bearer two", undefined]);
    const path = `/api${PATH}?party=a%3A%3A1`;
    expect(requests[0]).toMatchObject({ method: "GET", path, body: "", headers: { accept: "application/json" } });
    expect(requests[0]?.headers).not.toHaveProperty("content-type");
  });

  test("has its body as JSON, with any characters", async () => {
    const { url, requests } = await answering("{}");
    const body: JsonObject = { party: "Zoë ☂ 𝄞", list: [1, null, true, { deep: "" }] };
    await callParticipant(endpointAt(url), "POST", PATH, body);
    const headers = expect.objectContaining({ "content-type": "application/json" }) as Seen["headers"];
    expect(requests).toEqual([{ method: "POST", path: PATH, headers, body: JSON.stringify(body) }]);
  });

  test("is not sent if the token fails, or no header can carry it, which is not told", async () => {
    const { url, requests } = await answering("{}");
    const failing = endpointAt(url, { token: () => Promise.reject(new Error("no token")) });
    await expect(callParticipant(failing, "GET", PATH)).rejects.toThrow("no token");
    for (const token of ["two\nlines", "umlaut-ü-☂"]) {
      const failure = await fails(url, withToken(token));
      const message = "the token for the participant has invalid characters";
      expect(failure).toMatchObject({ kind: "denied", message });
      expect(everythingOf(failure)).not.toContain(token);
    }
    expect(requests).toEqual([]);
  });
});

describe("an answer", () => {
  test.each([[200, null] as const, [201, "text"] as const])("of status %i is given: %j", async (status, value) => {
    const { url } = await answering(JSON.stringify(value), status);
    expect(await callParticipant(endpointAt(url), "GET", PATH)).toEqual(value);
  });

  test("just below the limit of its size is given", async () => {
    const text = "x".repeat(MAX_BYTES - 2);
    const { url } = await answering(JSON.stringify(text));
    expect((await callParticipant(endpointAt(url), "GET", PATH)) === text).toBe(true);
  });

  test("is decoded as UTF-8 across chunks", async () => {
    const text = Buffer.from(JSON.stringify({ party: "Zoë ☂ 𝄞" }));
    const url = await serving(async (_request, response) => {
      for (const byte of text) await new Promise((sent) => response.write(Buffer.of(byte), sent));
      response.end();
    });
    expect(await callParticipant(endpointAt(url), "GET", PATH)).toEqual({ party: "Zoë ☂ 𝄞" });
  });

  test.each<[number, string, LedgerErrorKind, string]>([
    [401, errorOf("NA", -1), "denied", "because"],
    [200, '{"offset":', "unreadable", PATH],
    [204, "", "unreadable", PATH],
    [307, "", "refused", "307"],
  ])("of status %i and %s is %s", async (status, text, kind, said) => {
    const elsewhere = await answering("{}");
    // A redirect is not followed, so that the token is sent to no other host.
    const { url } = await answering(text, status, { location: elsewhere.url.href });
    const failure = await fails(url);
    expect(failure.kind).toBe(kind);
    expect(failure.message).toContain(said);
    expect(everythingOf(failure)).not.toContain(TOKEN);
    expect(elsewhere.requests).toEqual([]);
  });
});

describe("what is no participant", () => {
  const page = (title: string) =>
    `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body>words</body></html>`;
  const to = (location: string) => ({ location });
  const html = { "content-type": "text/html; charset=utf-8" };

  // Without credentials and query of a redirect. A title is short, or left out.
  test.each<[number, string, Readonly<Record<string, string>>, string]>([
    [
      302,
      "",
      to("https://me:pw@sso.example/login?a=secret#f"),
      "status 302, a redirect to https://sso.example/login: ",
    ],
    [308, "", to("/v3/other?x=secret"), "status 308, a redirect to HERE/v3/other: "],
    [302, "", to("app:secret"), "status 302, a redirect to a URL of app:: "],
    [301, "", {}, "status 301, a redirect: "],
    [301, "", to("https://:secret"), "status 301, a redirect to what is no URL: "],
    [502, page(" Bad \n gateway "), {}, 'status 502, a page of HTML, "Bad gateway": '],
    [503, "words", html, "status 503, a page of HTML: "],
    [403, page("x".repeat(101)), {}, "status 403, a page of HTML: "],
    [200, page("Sign in"), {}, `${PATH} is a page of HTML, "Sign in", not JSON (status 200)`],
  ])("is told: status %i, %j, %j", async (status, text, headers, said) => {
    const { url } = await answering(text, status, headers);
    const { message } = await fails(url);
    expect(message.replaceAll(url.origin, "HERE")).toContain(said);
    expect(message).not.toMatch(/secret|pw|words/);
  });
});

describe("Retry-After", () => {
  const at = (seconds: number) => new Date(Date.parse("2020-01-01T00:00:00Z") + seconds * 1_000).toUTCString();
  const overloaded = errorOf("PARTICIPANT_BACKPRESSURE", 2, { retryInfo: "4 seconds" });

  // The dates are years ago: no clock of this machine matters.
  test.each<[string, number, string, Readonly<Record<string, string>>, number | undefined]>([
    ["in seconds", 503, "", { "retry-after": "30" }, 30_000],
    ["as a date, from that of the answer", 503, "", { "retry-after": at(20), date: at(0) }, 20_000],
    ["of more than a minute", 429, "", { "retry-after": "86400" }, 60_000],
    ["beyond all numbers", 429, "", { "retry-after": "9".repeat(400) }, 60_000],
    ["of a page", 503, "<html>", { "retry-after": "5" }, 5_000],
    ["of a path that is not there", 404, "", { "retry-after": "5" }, 5_000],
    ["longer than in the body", 409, overloaded, { "retry-after": "9" }, 9_000],
    ["shorter than in the body", 409, overloaded, { "retry-after": "2" }, 4_000],
    ["that is past", 503, "", { "retry-after": at(-5), date: at(0) }, undefined],
    ["that is none", 503, "", { "retry-after": "soon" }, undefined],
    ["that is negative", 503, "", { "retry-after": "-5" }, undefined],
    ["of zero", 503, "", { "retry-after": "0" }, undefined],
  ])("%s is told", async (_what, status, body, headers, retryMs) => {
    const { url } = await answering(body, status, headers);
    expect((await fails(url)).details.retryMs).toBe(retryMs);
  });

  test("for one call is no answer to what others ask", async () => {
    const answers = [
      [404, errorOf("CONTRACT_EVENTS_NOT_FOUND", 11)],
      [404, errorOf("PACKAGE_NAMES_NOT_FOUND", 11, { cause: "[one]" })],
      [400, errorOf("PARTICIPANT_PRUNED_DATA_ACCESSED", 9)],
    ] as const;
    for (const [status, body] of answers) {
      const { url } = await answering(body, status, { "retry-after": "30" });
      const endpoint = endpointAt(url, { pace: new Pace() });
      const first = await failureOf(callParticipant(endpoint, "GET", "/one"));
      const held = await failureOf(callParticipant(endpoint, "GET", "/two"));
      expect(held).toMatchObject({ kind: "busy", code: undefined, message: first.message });
      expect(held.details).toEqual({ retryMs: expect.any(Number) as number });
    }
  });

  test("holds all calls of the participant, until its time has passed", async () => {
    const retry: Record<string, string> = { "retry-after": "1" };
    const requests: string[] = [];
    const url = await serving((request, response) => {
      requests.push(request.url ?? "");
      response.writeHead(requests.length === 1 ? 503 : 200, retry).end("{}");
    });
    const pace = new Pace();
    const call = (path: string) => callParticipant(endpointAt(url, { pace }), "GET", path);
    const first = await failureOf(call("/one"));
    const held = await failureOf(call("/two"));
    expect(held).toMatchObject({ kind: "busy", message: first.message, details: { status: 503 } });
    expect(held.details.retryMs).toBeLessThanOrEqual(1_000);
    expect((await failureOf(MessageStream.open(endpointAt(url, { pace }), PATH, {}, false))).message).toBe(
      first.message,
    );
    expect(requests).toEqual(["/one"]);
    await until("the time has passed", () =>
      call("/three").then(
        () => true,
        () => false,
      ),
    );
    expect(requests).toEqual(["/one", "/three"]);
  });
});

test("an answer of objects in each other, millions of levels, is unreadable", async () => {
  const levels = Math.floor((MAX_BYTES - 1) / 6);
  const text = `${'{"a":'.repeat(levels)}0${"}".repeat(levels)}`;
  expect(await fails((await answering(text)).url)).toMatchObject({
    kind: "unreadable",
    message: `the participant's answer to ${PATH} is nested deeper than 65536 objects and lists`,
  });
  expect(await fails((await answering(text, 400)).url)).toMatchObject({ kind: "refused" });
});

const expectLost = (failure: LedgerError, url: URL): void => {
  expect(failure).toMatchObject({ kind: "lost", code: undefined });
  expect(failure.message).toContain(`${url.origin} cannot be reached: `);
  expect(everythingOf(failure)).not.toContain(TOKEN);
};

describe("a connection is lost", () => {
  test.each<[string, () => Promise<URL>]>([
    ["that is refused", closedPort],
    ["to a name that does not exist", () => Promise.resolve(new URL("http://nobody.invalid"))],
    ["that ends before the answer", () => serving((request) => void request.socket.destroy())],
    [
      "that ends within the response",
      () =>
        serving((request, response) => {
          response.writeHead(200, { "content-length": "100" });
          response.write("{}", () => request.socket.destroy());
        }),
    ],
  ])("%s", async (_what, at) => {
    const url = await at();
    expectLost(await fails(url), url);
  });

  test("but one with another protocol is refused: it is another port", async () => {
    // As a gRPC port answers HTTP/1.1: a frame of HTTP/2.
    const url = await serving((request) => void request.socket.end(Buffer.from("000012040000000000", "hex")));
    const failure = await fails(url);
    expect(failure).toMatchObject({ kind: "refused", code: undefined });
    expect(failure.message).toContain(`${url.origin} cannot be reached: it does not speak HTTP/1.1: it may be the`);
  });

  test.each<[string, Parameters<typeof serving>[0]]>([
    ["before it answers", () => undefined],
    ["amid its answer", (_request, response) => void response.write('{"offset":')],
    [
      "that sends without end",
      (_request, response) => {
        const timer = setInterval(() => response.write(" "), 10);
        response.on("close", () => clearInterval(timer));
      },
    ],
  ])("to a server that hangs %s, after the time limit", async (_when, listener) => {
    const url = await serving(listener);
    const failure = await fails(url, { timeouts: { answer: 150 } });
    expectLost(failure, url);
    expect(failure.message).toContain("no answer within 150 ms");
  });

  // A signal of AbortSignal.timeout may be collected before it fires (nodejs/node#57736): then nothing ends the wait.
  test("whatever garbage is collected meanwhile", async () => {
    const url = await serving(() => undefined);
    const answers = Array.from({ length: 20 }, () => fails(url, { timeouts: { answer: 300 } }));
    onTestFinished(keepCollecting());
    for (const error of await Promise.all(answers)) expect(error.message).toContain("no answer within 300 ms");
  });
});

test("an oversized response is cut, and reported as such", async () => {
  const { url, sent, isClosed } = await endless();
  const failure = await fails(url);
  expectLost(failure, url);
  expect(failure.message).toContain(`exceeds ${MAX_BYTES} bytes`);
  await until("the server's connection is closed", isClosed);
  expect(sent()).toBeLessThan(MAX_BYTES * 10);
});

describe("an abort", () => {
  test.each(["", '{"offset":'])(
    "ends a waiting call at once, and its connection, after %j of the response",
    async (part) => {
      const end = new AbortController();
      const arrived = gate();
      let isClosed = false;
      const url = await serving((_request, response) => {
        response.on("close", () => void (isClosed = true));
        if (part === "") arrived.open();
        else response.write(part, () => arrived.open());
      });
      const failing = fails(url, { signal: end.signal });
      await arrived.opened;
      end.abort();
      expectLost(await failing, url);
      await until("the server's connection is closed", () => isClosed);
    },
  );

  test("before a call prevents the request", async () => {
    const { url, requests } = await answering("{}");
    expectLost(await fails(url, { signal: AbortSignal.abort() }), url);
    expect(requests).toEqual([]);
  });
});

// Skipped without the openssl command line, which makes the certificates.
describe.skipIf(!hasOpenssl)("with an own authority", () => {
  let own: Certificates;
  let other: Certificates;
  beforeAll(() => {
    own = createCertificates();
    other = createCertificates();
  });

  test.each<[string, string, () => string | undefined, string | undefined]>([
    ["is called over https", "127.0.0.1", () => own.ca, undefined],
    ["is called where one of several root certificates is its own", "127.0.0.1", () => other.ca + own.ca, undefined],
    ["is not trusted without it", "127.0.0.1", () => undefined, "lost"],
    ["is not trusted with another", "127.0.0.1", () => other.ca, "lost"],
    ["is not trusted with none that can be read", "127.0.0.1", () => "-----BEGIN CERTIFICATE-----\nno\n", "lost"],
    ["is not trusted under another name", "localhost", () => own.ca, "lost"],
  ])("a participant %s, and gets a token only then", async (_what, hostname, ca, kind) => {
    const authorizations: (string | undefined)[] = [];
    const server = createTlsServer({ key: own.key, cert: own.cert }, (request, response) => {
      authorizations.push(request.headers.authorization);
      response.end('{"offset":7}');
    });
    const url = await listening(server, "https");
    url.hostname = hostname;
    const endpoint = endpointAt(url, { ca: ca(), ...withToken(TOKEN) });
    const answer = await callParticipant(endpoint, "GET", PATH).catch(({ kind: failed }: LedgerError) => failed);
    expect(answer).toEqual(kind ?? { offset: 7 });
    expect(authorizations).toEqual(kind === undefined ? [`Bearer ${TOKEN}`] : []);
  });
});
