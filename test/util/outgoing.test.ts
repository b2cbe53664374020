/** Requests through the proxy that the environment names: of the participant, its streams, the issuers of tokens. */
import { createServer as createTlsServer } from "node:https";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { DEFAULT_KEY_LIMITS, IssuerKeys, TokenVerifier } from "../../src/auth/tokens.js";
import { callParticipant } from "../../src/ledger/participant/http.js";
import { MessageStream, streamMessages } from "../../src/ledger/participant/message-stream.js";
import { clientCredentials } from "../../src/ledger/participant/tokens.js";
import { createCertificates, hasOpenssl } from "../fixtures/certificates.js";
import { connectProxy } from "../fixtures/connect-proxy.js";
import { AUDIENCE, ISSUER, JwksServer, Key, NOW } from "../fixtures/issuer.js";
import { until, within } from "../fixtures/wait.js";
import {
  endpointAt,
  everythingOf,
  failureOf,
  listening,
  serving,
  SOON_MS,
  streaming,
  temporaryFile,
} from "../ledger/participant/servers.js";
import { Issuer } from "../scripted-participant/oidc.js";

const PATH = "/v2/updates";
const NAMES = ["http_proxy", "https_proxy", "no_proxy", "all_proxy"].flatMap((name) => [name, name.toUpperCase()]);

// The machine that runs the tests may have a proxy.
beforeEach(() => {
  for (const name of NAMES) vi.stubEnv(name, undefined);
});
afterEach(() => void vi.unstubAllEnvs());

/** The same server, under a name that only a proxy can resolve. */
function behind(url: URL): URL {
  const named = new URL(url);
  named.hostname = "participant.invalid";
  return named;
}

const answering = () => serving((_request, response) => void response.end('{"offset":7}'));
const get = (url: URL, more: Parameters<typeof endpointAt>[1] = {}) =>
  callParticipant(endpointAt(url, more), "GET", "/v2/state/ledger-end");
const hostOf = ({ host }: URL): string => host;

describe("a proxy of the environment", () => {
  test.each(["HTTP_PROXY", "http_proxy"])("%s carries calls over http by a tunnel", async (name) => {
    const [proxy, url] = [await connectProxy(), behind(await answering())];
    vi.stubEnv(name, proxy.url.href);
    expect(await get(url, { token: () => Promise.resolve("token") })).toEqual({ offset: 7 });
    expect(proxy.asked).toEqual([{ target: hostOf(url), authorization: undefined }]);
    expect(proxy.others).toEqual([]);
  });

  test.skipIf(!hasOpenssl).each(["HTTPS_PROXY", "https_proxy"])(
    "%s carries calls over https, with an own authority",
    async (name) => {
      const proxy = await connectProxy();
      const { ca, key, cert } = createCertificates();
      const url = await listening(
        createTlsServer({ key, cert }, (_request, response) => void response.end("{}")),
        "https",
      );
      vi.stubEnv(name, proxy.url.href);
      expect(await get(url, { ca })).toEqual({});
      expect(proxy.asked.map(({ target }) => target)).toEqual([hostOf(url)]);
      expect(await failureOf(get(url))).toMatchObject({ kind: "lost" });
    },
  );

  test("carries streams", async () => {
    const proxy = await connectProxy();
    const url = behind(
      await streaming((socket) =>
        socket.once("message", () => {
          socket.send("5");
          socket.close(1000);
        }),
      ),
    );
    vi.stubEnv("HTTP_PROXY", proxy.url.href);
    const got = [];
    for await (const message of streamMessages(endpointAt(url), PATH, {}, true)) got.push(message);
    expect(got).toEqual([5]);
    expect(proxy.asked.map(({ target }) => target)).toEqual([hostOf(url)]);
  });

  test.skipIf(!hasOpenssl)("carries streams over TLS, with an own authority", async () => {
    const proxy = await connectProxy();
    const { ca, key, cert } = createCertificates();
    const url = await streaming(() => {}, {}, createTlsServer({ key, cert }));
    vi.stubEnv("HTTPS_PROXY", proxy.url.href);
    const stream = await within(SOON_MS, "a stream", MessageStream.open(endpointAt(url, { ca }), PATH, {}, false));
    expect(await stream.isResponsive()).toBe(true);
    stream.close();
    expect(proxy.asked.map(({ target }) => target)).toEqual([hostOf(url)]);
    await until("the tunnel is closed", () => proxy.open() === 0);
  });

  test("carries requests for tokens and keys", async () => {
    const proxy = await connectProxy();
    const issuer = await Issuer.start();
    onTestFinished(() => issuer.close());
    const key = await Key.make("first");
    const keys = new JwksServer([key]);
    await keys.open();
    onTestFinished(() => keys.close());
    vi.stubEnv("HTTP_PROXY", proxy.url.href);
    const { signal } = new AbortController();
    const secretFile = await temporaryFile("secret");
    const options = {
      issuer: behind(new URL(issuer.url)),
      clientId: "offledger",
      secretFile,
      audience: undefined,
      scope: undefined,
    };
    expect(await clientCredentials(options, undefined, signal, Date.now)()).toBe(issuer.issued[0]);
    const found = new IssuerKeys(behind(keys.url), pino({ level: "silent" }), DEFAULT_KEY_LIMITS);
    const rules = { issuer: ISSUER, audience: AUDIENCE, algorithms: ["RS256"] };
    const verifier = new TokenVerifier(
      found,
      rules,
      () => Date.parse(NOW),
      () => performance.now(),
    );
    expect(await verifier.verify(await key.sign())).toBeUndefined();
    const { port } = new URL(issuer.url);
    expect(new Set(proxy.asked.map(({ target }) => target))).toEqual(
      new Set([`participant.invalid:${port}`, `127.0.0.1:${port}`, `participant.invalid:${keys.url.port}`]),
    );
  });

  test.each([
    ["NO_PROXY", "127.0.0.1"],
    ["no_proxy", "other.example, 127.0.0.1"],
    ["NO_PROXY", "*"],
  ])("is left out where %s has the host: %s", async (name, value) => {
    const [proxy, url] = [await connectProxy(), await answering()];
    vi.stubEnv("HTTP_PROXY", proxy.url.href);
    vi.stubEnv(name, value);
    expect(await get(url)).toEqual({ offset: 7 });
    expect(proxy.asked).toEqual([]);
  });

  test("gets the credentials of its URL, which no message has", async () => {
    const [proxy, refusing] = [await connectProxy(), await connectProxy(407)];
    const url = behind(await answering());
    const withCredentials = ({ host }: URL) => `http://me:p%40ss-w0rd@${host}`;
    vi.stubEnv("HTTP_PROXY", withCredentials(proxy.url));
    expect(await get(url)).toEqual({ offset: 7 });
    expect(proxy.asked[0]?.authorization).toBe(`Basic ${Buffer.from("me:p@ss-w0rd").toString("base64")}`);
    vi.stubEnv("HTTP_PROXY", withCredentials(refusing.url));
    for (const call of [get(url), MessageStream.open(endpointAt(url), PATH, {}, false)]) {
      const failure = await failureOf(call);
      expect(failure).toMatchObject({ kind: "lost" });
      expect(failure.message).toContain(` through the proxy ${refusing.url.origin}: Bad response: 407`);
      expect(everythingOf(failure)).not.toMatch(/ss-w0rd|bWU6/);
    }
  });

  test("that does not answer fails a call in time, and a stream ends when it is closed", async () => {
    const proxy = await connectProxy("silence");
    const url = behind(await answering());
    vi.stubEnv("HTTP_PROXY", proxy.url.href);
    expect(await failureOf(get(url, { timeouts: { answer: 100 } }))).toMatchObject({
      kind: "lost",
      message: `${url.origin} cannot be reached through the proxy ${proxy.url.origin}: no answer within 100 ms`,
    });
    const end = new AbortController();
    const opening = failureOf(MessageStream.open(endpointAt(url, { signal: end.signal }), PATH, {}, false));
    await until("the proxy is asked", () => proxy.asked.length === 2);
    end.abort();
    expect(await opening).toMatchObject({ kind: "lost" });
  });

  test.each(["not a URL:// p4ss", "socks5://me:p4ss@host:1080", "http://me:p4ss%@host:1"])(
    "is refused, untold, if it is none: %s",
    async (value) => {
      const url = await answering();
      vi.stubEnv("HTTP_PROXY", value);
      for (const call of [get(url), MessageStream.open(endpointAt(url), PATH, {}, false)]) {
        const failure = await failureOf(call);
        expect(failure.message).toContain("check HTTPS_PROXY and HTTP_PROXY");
        expect(everythingOf(failure)).not.toContain("p4ss");
      }
    },
  );
});
