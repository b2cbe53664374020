/** The keys of the issuer: fetching, refreshing, and verdicts while they are unavailable; caching of valid tokens. */
import { Writable } from "node:stream";
import { pino } from "pino";
import { Code } from "@connectrpc/connect";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { TokenVerifier, VERIFICATION_LIMITS } from "../../src/auth/token-verifier.js";
import { IssuerKeys, DEFAULT_KEY_FETCH_LIMITS, type KeyFetchLimits } from "../../src/auth/issuer-keys.js";
import { serveFile } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";
import { authenticatedCalls } from "../fixtures/authenticated-calls.js";
import { at, AUDIENCE, ISSUER, Key, NOW, type JwksReply, JwksServer } from "../fixtures/issuer.js";

const [first, second] = await Promise.all([Key.make("first"), Key.make("second", "ES256")]);
const rules = { issuer: ISSUER, audience: AUDIENCE, algorithms: ["RS256", "ES256"] };
const VALID = { status: "valid" };
const UNAVAILABLE = { status: "unavailable" };
const UNPUBLISHED = { status: "invalid", reason: expect.stringContaining("does not publish") };

let stop: (() => void)[] = [];
afterEach(() => {
  for (const one of stop) one();
  stop = [];
});

/** Creates a verifier on the keys of a publisher; `logged` collects its log. */
async function createVerifier(published: JwksReply, limits: Partial<KeyFetchLimits> = {}, isOpen = true) {
  const publisher = new JwksServer(published);
  await publisher.open();
  if (!isOpen) await publisher.close();
  onTestFinished(() => publisher.close());
  const logged: string[] = [];
  const sink = new Writable({
    write(line: Buffer, _encoding, done) {
      logged.push(line.toString());
      done();
    },
  });
  let now = Date.parse(NOW);
  const keys = new IssuerKeys(publisher.url, pino({ level: "trace" }, sink), {
    ...DEFAULT_KEY_FETCH_LIMITS,
    retryMs: 0,
    ...limits,
  });
  stop.push(() => keys.stop());
  const verifier = new TokenVerifier(keys, rules, () => now);
  const oneConnection = {};
  const tokens = { verify: (token: string, connection = oneConnection) => verifier.verify(token, connection) };
  const pass = (seconds: number) => (now += seconds * 1000);
  return { publisher, logged, tokens, keys, pass };
}

describe("keys", () => {
  test("are fetched once for many concurrent tokens", async () => {
    const { publisher, tokens } = await createVerifier([first]);
    const all = await Promise.all(Array.from({ length: 20 }, (_, index) => first.sign({ jti: String(index) })));
    const verdicts = await Promise.all(all.map(async (token) => tokens.verify(token)));
    expect(verdicts).toEqual(all.map(() => VALID));
    expect(publisher.requestCount).toBe(1);
  });

  test("are fetched again when a token names an unknown one", async () => {
    const { publisher, tokens } = await createVerifier([first], { cooldownMs: 0 });
    expect(await tokens.verify(await first.sign())).toEqual(VALID);
    publisher.published = [first, second];
    expect(await tokens.verify(await second.sign())).toEqual(VALID);
    publisher.published = [second];
    expect(await tokens.verify(await (await Key.make("third")).sign())).toEqual(UNPUBLISHED);
    expect(await tokens.verify(await first.sign({ jti: "again" }))).toEqual(UNPUBLISHED);
  });

  test("are not fetched again within the cooldown, however many tokens name unknown ones", async () => {
    const { publisher, tokens } = await createVerifier([first]);
    for (let index = 0; index < 20; index++) {
      expect(await tokens.verify(await first.sign({}, { kid: `made up ${index}` }))).toEqual(UNPUBLISHED);
    }
    expect(publisher.requestCount).toBe(1);
  });

  test("are refreshed in the background; the old ones serve while the issuer is unavailable", async () => {
    const { publisher, tokens, logged } = await createVerifier([first], { refreshMs: 0 });
    expect(await tokens.verify(await first.sign())).toEqual(VALID);
    await publisher.close();
    expect(await tokens.verify(await first.sign({ jti: "2" }))).toEqual(VALID);
    await until("the failure is logged", () => logged.length > 0);
    publisher.published = [second];
    await publisher.open();
    // The old key serves until the new ones are fetched.
    await until("the old key is no longer accepted", async () => {
      const verdict = await tokens.verify(await first.sign({ jti: String(Math.random()) }));
      return verdict.status !== "valid";
    });
    expect(await tokens.verify(await second.sign())).toEqual(VALID);
  });

  test("are not used past their maximum age", async () => {
    const { publisher, tokens } = await createVerifier([first], { maxAgeMs: 0 });
    expect(await tokens.verify(await first.sign())).toEqual(VALID);
    await publisher.close();
    expect(await tokens.verify(await first.sign({ jti: "2" }))).toEqual(UNAVAILABLE);
  });
});

describe("an unavailable issuer", () => {
  test("at startup is asked again, and logged once", async () => {
    const { publisher, tokens, logged } = await createVerifier([first], {}, false);
    for (let index = 0; index < 5; index++) expect(await tokens.verify(await first.sign())).toEqual(UNAVAILABLE);
    expect(logged).toHaveLength(1);
    expect(JSON.parse(logged[0] ?? "")).toMatchObject({ level: 40, msg: "issuer keys unavailable" });
    await publisher.open();
    expect(await tokens.verify(await first.sign())).toEqual(VALID);
    expect(JSON.parse(logged[1] ?? "")).toMatchObject({ level: 30, msg: "issuer keys available again" });
  });

  test("later: known keys serve on, and tokens of unknown keys are unavailable", async () => {
    const { publisher, tokens } = await createVerifier([first], { cooldownMs: 0 });
    expect(await tokens.verify(await first.sign())).toEqual(VALID);
    await publisher.close();
    expect(await tokens.verify(await first.sign({ jti: "2" }))).toEqual(VALID);
    expect(await tokens.verify(await first.sign({ exp: at(-100) }))).toEqual({
      status: "invalid",
      reason: "token expired",
    });
    expect(await tokens.verify(await second.sign())).toEqual(UNAVAILABLE);
  });

  test("is not asked again within the retry interval", async () => {
    const published = { status: 500, body: "" };
    const { publisher, tokens } = await createVerifier(published, { retryMs: 60_000 });
    for (let index = 0; index < 20; index++) expect(await tokens.verify(await first.sign())).toEqual(UNAVAILABLE);
    expect(publisher.requestCount).toBe(1);
  });

  test.each<[string, JwksReply]>([
    ["silence", "silence"],
    ["an error", { status: 500, body: "oops" }],
    ["a redirection", { status: 302, body: "" }],
    ["malformed JSON", { status: 200, body: "<html>secret words</html>" }],
    ["no keys", { status: 200, body: '{"secret":"words"}' }],
    ["malformed keys", { status: 200, body: '{"keys":["secret words"]}' }],
    ["null", { status: 200, body: "null" }],
    ["more than the limit", { status: 200, body: `{"keys":[]${" ".repeat(300_000)}}` }],
    ["an unusable key", { status: 200, body: '{"keys":[{"kty":"RSA","kid":"first","n":"AA","e":"AQAB"}]}' }],
    ["a symmetric key", { status: 200, body: '{"keys":[{"kty":"oct","kid":"first","k":"AAAA"}]}' }],
  ])("answers %s", async (title, published) => {
    const { tokens, logged } = await createVerifier(published, { responseMs: 300 });
    const token = await first.sign();
    const verdict = await tokens.verify(token);
    // A symmetric key matches none of the accepted algorithms.
    expect(verdict).toEqual(title === "a symmetric key" ? UNPUBLISHED : UNAVAILABLE);
    expect(logged).toHaveLength(title === "a symmetric key" ? 0 : 1);
    for (const piece of [...token.split("."), "secret words", "oops"]) expect(logged.join("")).not.toContain(piece);
  });

  test("gets 503 with Retry-After on every protocol; health requests and missing tokens are answered as usual", async () => {
    const publisher = new JwksServer({ status: 503, body: "" });
    await publisher.open();
    const config = { authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE };
    const running = await serveFile(undefined, { now: NOW, config });
    onTestFinished(async () => {
      await running.close();
      await publisher.close();
    });
    for (const [way, ask] of Object.entries(authenticatedCalls)) {
      const result = await ask(running.url, `Bearer ${await first.sign()}`);
      expect({ way, ...result }).toMatchObject({ way, code: Code.Unavailable, retryAfter: "5", challenge: null });
      expect((await ask(running.url)).code).toBe(Code.Unauthenticated);
    }
    expect((await running.get("/readyz")).status).toBe(200);
  });
});

test("a cached token does not wait while as many as may are being verified and wait", async () => {
  const { publisher, tokens } = await createVerifier([first], { maxAgeMs: 0, responseMs: 600_000 });
  const cached = await first.sign();
  expect(await tokens.verify(cached)).toEqual(VALID);
  publisher.published = "silence";
  const token = await first.sign({ jti: "2" });
  const { total, waiting } = VERIFICATION_LIMITS;
  const pending = Array.from({ length: total + waiting }, async () => tokens.verify(token, {}));
  expect(await tokens.verify(token, {})).toEqual({ status: "overloaded" });
  expect(tokens.verify(cached, {})).toEqual(VALID);
  await publisher.close();
  expect(new Set((await Promise.all(pending)).map(({ status }) => status))).toEqual(new Set(["unavailable"]));
});

describe("a valid token", () => {
  test("is cached for a minute, but not past its expiry", async () => {
    const { publisher, tokens, pass } = await createVerifier([first], { cooldownMs: 0 });
    const long = await first.sign({ exp: at(3600) });
    const short = await first.sign({ exp: at(40) });
    for (const token of [long, short]) {
      expect(await tokens.verify(token)).toEqual(VALID);
      expect(tokens.verify(token)).toEqual(VALID);
    }
    // The key is withdrawn. A token of an unknown key triggers the fetch.
    publisher.published = [second];
    await tokens.verify(await second.sign());
    pass(39);
    expect(tokens.verify(short)).toEqual(VALID);
    pass(2);
    expect(tokens.verify(short)).toBeInstanceOf(Promise);
    expect(await tokens.verify(short)).toEqual(UNPUBLISHED);
    expect(tokens.verify(long)).toEqual(VALID);
    pass(20);
    expect(await tokens.verify(long)).toEqual(UNPUBLISHED);
  });

  test("is evicted after ten thousand others; an invalid one is never cached", async () => {
    const { tokens } = await createVerifier([second]);
    const oldest = await second.sign({ jti: "oldest" });
    expect(await tokens.verify(oldest)).toEqual(VALID);
    expect(tokens.verify(oldest)).toEqual(VALID);
    for (let index = 0; index < 10_000; index += 100) {
      const some = await Promise.all(Array.from({ length: 100 }, (_, more) => second.sign({ jti: `${index + more}` })));
      await Promise.all(some.map(async (token) => tokens.verify(token)));
    }
    expect(tokens.verify(oldest)).toBeInstanceOf(Promise);
    const expired = await second.sign({ exp: at(-100) });
    await tokens.verify(expired);
    expect(tokens.verify(expired)).toBeInstanceOf(Promise);
  }, 60_000);
});
