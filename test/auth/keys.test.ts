/** The keys of the issuer: fetched, cached, rotated, unavailable. Valid tokens are cached. */
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:http2";
import { Code } from "@connectrpc/connect";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  DEFAULT_KEY_LIMITS,
  IssuerKeys,
  type KeyLimits,
  KeysUnavailable,
  TokenVerifier,
} from "../../src/auth/tokens.js";
import { callNamed } from "../fixtures/calls/index.js";
import { at, AUDIENCE, ISSUER, type JwksReply, JwksServer, Key, NOW } from "../fixtures/issuer.js";
import { clients } from "../fixtures/protocols.js";
import { serveFile } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";

const [first, second] = await Promise.all([Key.make("first"), Key.make("second", "ES256")]);
const rules = { issuer: ISSUER, audience: AUDIENCE, algorithms: ["RS256", "ES256"] };
const FAILURE: JwksReply = { status: 500, body: "oops" };
const VALID = "valid";
const UNAVAILABLE = "unavailable";
const UNPUBLISHED = "token is signed with a key that its issuer does not publish";

async function startIssuer(published: JwksReply): Promise<JwksServer> {
  const issuer = new JwksServer(published);
  await issuer.open();
  onTestFinished(() => issuer.close());
  return issuer;
}

/** A verifier with the keys of an issuer, without pause after a failure. `logged` collects its log. */
async function createVerifier(published: JwksReply, limits: Partial<KeyLimits> = {}) {
  const issuer = await startIssuer(published);
  const logged: string[] = [];
  /** Wall and monotonic time, in milliseconds. */
  let [now, elapsed] = [Date.parse(NOW), 1_000];
  const log = pino({ level: "trace" }, { write: (line) => void logged.push(line) });
  const keys = new IssuerKeys(issuer.url, log, { ...DEFAULT_KEY_LIMITS, retryMs: 0, ...limits });
  const verifier = new TokenVerifier(
    keys,
    rules,
    () => now,
    () => elapsed,
  );
  const verify = async (token: string): Promise<string> => {
    try {
      return (await verifier.verify(token)) ?? VALID;
    } catch (error) {
      if (error instanceof KeysUnavailable) return UNAVAILABLE;
      throw error;
    }
  };
  let count = 0;
  /** Verifies a token that is not cached. */
  const verifyNew = async (key: Key, kid = key.kid) => verify(await key.sign({ jti: String(count++) }, { kid }));
  const jump = (seconds: number) => void (now += seconds * 1000);
  const pass = (seconds: number) => {
    jump(seconds);
    elapsed += seconds * 1000;
  };
  return { issuer, logged, verify, verifyNew, pass, jump };
}

const times = async (count: number, verdict: (index: number) => Promise<string>) =>
  new Set(await Promise.all(Array.from({ length: count }, (_, index) => verdict(index))));

describe("keys", () => {
  test("are fetched once for many tokens at once, also for those that name unknown ones", async () => {
    const { issuer, verifyNew } = await createVerifier([first]);
    expect(await times(20, () => verifyNew(first))).toEqual(new Set([VALID]));
    expect(await times(50, (index) => verifyNew(first, `made up ${index}`))).toEqual(new Set([UNPUBLISHED]));
    expect(issuer.requestCount).toBe(1);
  });

  test("rotate: a new one is found after the cooldown, a withdrawn one is no longer accepted", async () => {
    const { issuer, verifyNew } = await createVerifier([first], { cooldownMs: 400 });
    expect(await verifyNew(first)).toBe(VALID);
    issuer.published = [second];
    await until("the cooldown is over", async () => (await verifyNew(second)) === VALID);
    expect([await verifyNew(first), issuer.requestCount]).toEqual([UNPUBLISHED, 2]);
  });

  test("are refreshed in the background; the old ones serve while the issuer is unavailable", async () => {
    const { issuer, verifyNew, logged } = await createVerifier([first], { refreshMs: 0 });
    expect(await verifyNew(first)).toBe(VALID);
    await issuer.close();
    expect(await verifyNew(first)).toBe(VALID);
    await until("the failure is logged", () => logged.length > 0);
    expect(await verifyNew(first)).toBe(VALID);
    issuer.published = [second];
    await issuer.open();
    await until("the old key is no longer accepted", async () => (await verifyNew(first)) !== VALID);
    expect(await verifyNew(second)).toBe(VALID);
  });

  test("are not used past their maximum age", async () => {
    const { issuer, verifyNew } = await createVerifier([first], { maxAgeMs: 0 });
    expect(await verifyNew(first)).toBe(VALID);
    await issuer.close();
    expect(await verifyNew(first)).toBe(UNAVAILABLE);
  });
});

describe("an unavailable issuer", () => {
  test("is asked again; each change is logged once", async () => {
    const { issuer, verifyNew, logged } = await createVerifier(FAILURE);
    for (let index = 0; index < 5; index++) expect(await verifyNew(first)).toBe(UNAVAILABLE);
    issuer.published = [first];
    for (let index = 0; index < 5; index++) expect(await verifyNew(first)).toBe(VALID);
    expect(logged.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 40, msg: "issuer keys unavailable", reason: "response has status 500" },
      { level: 30, msg: "issuer keys available again" },
    ]);
  });

  test("is logged without the query of its URL", async () => {
    const issuer = await startIssuer(FAILURE);
    const logged: string[] = [];
    const log = pino({ level: "trace" }, { write: (line) => void logged.push(line) });
    const url = new URL("?key=s3cret#fragm3nt", issuer.url);
    new IssuerKeys(url, log).refresh();
    await until("the failure is logged", () => logged.length > 0);
    expect(JSON.parse(logged[0] ?? "")).toMatchObject({ url: issuer.url.href, msg: "issuer keys unavailable" });
    expect(logged.join("")).not.toMatch(/s3cret|fragm3nt/);
  });

  test("leaves known keys; a token of an unknown key may be valid; it is not asked for each token", async () => {
    const { issuer, verify, verifyNew } = await createVerifier([first], { cooldownMs: 0, retryMs: 60_000 });
    expect(await verifyNew(first)).toBe(VALID);
    issuer.published = FAILURE;
    for (let index = 0; index < 50; index++) expect(await verifyNew(first, `made up ${index}`)).toBe(UNAVAILABLE);
    expect([await verifyNew(second), await verifyNew(first), issuer.requestCount]).toEqual([UNAVAILABLE, VALID, 2]);
    expect(await verify(await first.sign({ exp: at(-100) }))).toBe("token expired");
  });

  test.each<[string, JwksReply]>([
    ["nothing", "silence"],
    ["an error", FAILURE],
    ["a redirection", { status: 302, body: "" }],
    ["malformed JSON", { status: 200, body: "<html>secret words</html>" }],
    ["no keys", { status: 200, body: '{"secret":"words"}' }],
    ["malformed keys", { status: 200, body: '{"keys":["secret words"]}' }],
    ["null", { status: 200, body: "null" }],
    ["more than the limit", { status: 200, body: `{"keys":[]${" ".repeat(300_000)}}` }],
    ["an unusable key", { status: 200, body: '{"keys":[{"kty":"RSA","kid":"first","n":"AA","e":"AQAB"}]}' }],
  ])("answers %s: nothing of it, and of the token, is logged", async (_title, published) => {
    const { verify, logged } = await createVerifier(published, { timeoutMs: 300 });
    const token = await first.sign();
    expect([await verify(token), logged.length]).toEqual([UNAVAILABLE, 1]);
    for (const piece of [...token.split("."), "secret words", "oops"]) expect(logged.join("")).not.toContain(piece);
  });

  test("is left alone as long as it asks for", async () => {
    const { issuer, verifyNew } = await createVerifier({ status: 503, body: "", headers: { "retry-after": "30" } });
    for (let index = 0; index < 5; index++) expect(await verifyNew(first)).toBe(UNAVAILABLE);
    expect(issuer.requestCount).toBe(1);
  });

  test("that publishes a symmetric key has none for tokens", async () => {
    const body = '{"keys":[{"kty":"oct","kid":"first","k":"AAAA"}]}';
    expect(await (await createVerifier({ status: 200, body })).verifyNew(first)).toBe(UNPUBLISHED);
  });
});

test("clients that leave while the service waits for keys harm nobody", async () => {
  const issuer = await startIssuer("silence");
  const config = { authJwksUrl: issuer.url, authIssuer: ISSUER, authAudience: AUDIENCE };
  const running = await serveFile(undefined, { now: NOW, config });
  onTestFinished(() => running.close());
  const authorization = `Bearer ${await first.sign()}`;
  const { path } = callNamed("operator");
  const session = connect(running.url);
  const stream = session.request({ ":path": path, authorization });
  const sent = request(running.url + path, { headers: { authorization } }).end();
  const failed = once(sent, "error").catch(() => {});
  await until("the service waits", () => issuer.requestCount > 0);
  sent.destroy();
  stream.close();
  await Promise.all([failed, once(stream, "close")]);
  await issuer.close();
  // Health, and requests without a token, as usual.
  expect((await running.get("/readyz")).status).toBe(200);
  expect(await clients["gRPC"]?.(running.url, callNamed("operator"))).toMatchObject({ code: Code.Unauthenticated });
  session.destroy();
});

describe("a valid token", () => {
  test("is cached for a minute, but not past its expiry", async () => {
    const { issuer, verify, verifyNew, pass } = await createVerifier([first], { cooldownMs: 0 });
    const long = await first.sign({ exp: at(3600) });
    const short = await first.sign({ exp: at(40) });
    for (const token of [long, short]) expect(await verify(token)).toBe(VALID);
    // The key is withdrawn, which the token of an unknown key reveals.
    issuer.published = [second];
    expect(await verifyNew(second)).toBe(VALID);
    pass(39);
    expect(await verify(short)).toBe(VALID);
    pass(2);
    expect(await verify(short)).toBe(UNPUBLISHED);
    expect(await verify(long)).toBe(VALID);
    pass(20);
    expect(await verify(long)).toBe(UNPUBLISHED);
  });

  test("is cached for a minute only, although the clock is set back", async () => {
    const { issuer, verify, verifyNew, pass, jump } = await createVerifier([first], { cooldownMs: 0 });
    const token = await first.sign({ exp: at(7200) });
    expect(await verify(token)).toBe(VALID);
    issuer.published = [second];
    expect(await verifyNew(second)).toBe(VALID);
    jump(-3600);
    pass(61);
    expect(await verify(token)).toBe(UNPUBLISHED);
  });

  test("is not cached past its expiry by a clock that was set forward", async () => {
    const { verify, jump } = await createVerifier([first]);
    const token = await first.sign({ exp: at(1800) });
    expect(await verify(token)).toBe(VALID);
    jump(3600);
    expect(await verify(token)).toBe("token expired");
  });

  test("is not cached after its expiry, although clocks may differ", async () => {
    const { verify, pass } = await createVerifier([first]);
    const token = await first.sign({ exp: at(0) });
    expect(await verify(token)).toBe(VALID);
    pass(31);
    expect(await verify(token)).toBe("token expired");
  });
});
