/** The issuer's keys: fetched, renewed, and what holds while they cannot be had. */
import { Writable } from "node:stream";
import { pino } from "pino";
import { Code } from "@connectrpc/connect";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { TokenVerifier } from "../../src/auth/token-verifier.js";
import { IssuerKeys, DEFAULT_KEY_FETCH_LIMITS, type KeyFetchLimits } from "../../src/auth/issuer-keys.js";
import { serveFile } from "../fixtures/run-service.js";
import { until } from "../fixtures/wait.js";
import { authenticatedCalls } from "../fixtures/authenticated-calls.js";
import { at, AUDIENCE, ISSUER, Key, NOW, type JwksReply, JwksServer } from "../fixtures/issuer.js";

const [first, second] = await Promise.all([Key.make("first"), Key.make("second", "ES256")]);
const rules = { issuer: ISSUER, audience: AUDIENCE, algorithms: ["RS256", "ES256"] };
const AWAY = "unknown";
const UNPUBLISHED = { wrong: expect.stringContaining("does not publish") };

let stop: (() => void)[] = [];
afterEach(() => {
  for (const one of stop) one();
  stop = [];
});

/** Tokens checked by the keys of a publisher, and what was logged meanwhile. */
async function checking(published: JwksReply, limits: Partial<KeyFetchLimits> = {}, isOpen = true) {
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
    pause: 0,
    ...limits,
  });
  stop.push(() => keys.stop());
  const tokens = new TokenVerifier(keys, rules, () => now);
  const pass = (seconds: number) => (now += seconds * 1000);
  return { publisher, logged, tokens, keys, pass };
}

describe("keys", () => {
  test("are fetched once for many tokens, also for those that come together", async () => {
    const { publisher, tokens } = await checking([first]);
    const all = await Promise.all(Array.from({ length: 20 }, (_, index) => first.sign({ jti: String(index) })));
    const verdicts = await Promise.all(all.map(async (token) => tokens.check(token)));
    expect(verdicts).toEqual(all.map(() => "good"));
    expect(publisher.requestCount).toBe(1);
  });

  test("that are new are found when a token names one", async () => {
    const { publisher, tokens } = await checking([first], { cooldown: 0 });
    expect(await tokens.check(await first.sign())).toBe("good");
    publisher.published = [first, second];
    expect(await tokens.check(await second.sign())).toBe("good");
    publisher.published = [second];
    expect(await tokens.check(await (await Key.make("third")).sign())).toEqual(UNPUBLISHED);
    expect(await tokens.check(await first.sign({ jti: "again" }))).toEqual(UNPUBLISHED);
  });

  test("that nobody has are looked for once in a while, however often they are named", async () => {
    const { publisher, tokens } = await checking([first]);
    for (let index = 0; index < 20; index++) {
      expect(await tokens.check(await first.sign({}, { kid: `made up ${index}` }))).toEqual(UNPUBLISHED);
    }
    expect(publisher.requestCount).toBe(1);
  });

  test("are renewed beside the requests, and an issuer that is away then hinders nobody", async () => {
    const { publisher, tokens, logged } = await checking([first], { renew: 0 });
    expect(await tokens.check(await first.sign())).toBe("good");
    await publisher.close();
    expect(await tokens.check(await first.sign({ jti: "2" }))).toBe("good");
    await until("the trouble is logged", () => logged.length > 0);
    publisher.published = [second];
    await publisher.open();
    // The old key serves until the new ones are there.
    await until("the old key serves no more", async () => {
      const verdict = await tokens.check(await first.sign({ jti: String(Math.random()) }));
      return verdict !== "good";
    });
    expect(await tokens.check(await second.sign())).toBe("good");
  });

  test("serve no longer than they may", async () => {
    const { publisher, tokens } = await checking([first], { keep: 0 });
    expect(await tokens.check(await first.sign())).toBe("good");
    await publisher.close();
    expect(await tokens.check(await first.sign({ jti: "2" }))).toBe(AWAY);
  });
});

describe("an issuer that is away", () => {
  test("at the start is asked again, and its trouble is told once", async () => {
    const { publisher, tokens, logged } = await checking([first], {}, false);
    for (let index = 0; index < 5; index++) expect(await tokens.check(await first.sign())).toBe(AWAY);
    expect(logged).toHaveLength(1);
    expect(JSON.parse(logged[0] ?? "")).toMatchObject({ level: 40, msg: "the keys for tokens cannot be had" });
    await publisher.open();
    expect(await tokens.check(await first.sign())).toBe("good");
    expect(JSON.parse(logged[1] ?? "")).toMatchObject({ level: 30, msg: "the keys for tokens are there again" });
  });

  test("later: known keys go on, and nothing is said of others", async () => {
    const { publisher, tokens } = await checking([first], { cooldown: 0 });
    expect(await tokens.check(await first.sign())).toBe("good");
    await publisher.close();
    expect(await tokens.check(await first.sign({ jti: "2" }))).toBe("good");
    expect(await tokens.check(await first.sign({ exp: at(-100) }))).toEqual({ wrong: "the token has expired" });
    expect(await tokens.check(await second.sign())).toBe(AWAY);
  });

  test("is left alone for a while", async () => {
    const published = { status: 500, body: "" };
    const { publisher, tokens } = await checking(published, { pause: 60_000 });
    for (let index = 0; index < 20; index++) expect(await tokens.check(await first.sign())).toBe(AWAY);
    expect(publisher.requestCount).toBe(1);
  });

  test.each<[string, JwksReply]>([
    ["silence", "silence"],
    ["an error", { status: 500, body: "oops" }],
    ["a redirection", { status: 302, body: "" }],
    ["no JSON", { status: 200, body: "<html>secret words</html>" }],
    ["no keys", { status: 200, body: '{"secret":"words"}' }],
    ["keys that are none", { status: 200, body: '{"keys":["secret words"]}' }],
    ["null", { status: 200, body: "null" }],
    ["more than is read", { status: 200, body: `{"keys":[]${" ".repeat(300_000)}}` }],
    ["a key that is broken", { status: 200, body: '{"keys":[{"kty":"RSA","kid":"first","n":"AA","e":"AQAB"}]}' }],
    ["a key that is secret", { status: 200, body: '{"keys":[{"kty":"oct","kid":"first","k":"AAAA"}]}' }],
  ])("answers %s", async (title, published) => {
    const { tokens, logged } = await checking(published, { answer: 300 });
    const token = await first.sign();
    const verdict = await tokens.check(token);
    // A secret is no key that a signature of these algorithms could be of.
    expect(verdict).toEqual(title === "a key that is secret" ? UNPUBLISHED : AWAY);
    expect(logged).toHaveLength(title === "a key that is secret" ? 0 : 1);
    for (const piece of [...token.split("."), "secret words", "oops"]) expect(logged.join("")).not.toContain(piece);
  });

  test("is 503 on every protocol, with the seconds after which to ask again; health and a token that is missing are as ever", async () => {
    const publisher = new JwksServer({ status: 503, body: "" });
    await publisher.open();
    const config = { authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE };
    const running = await serveFile(undefined, { now: NOW, config });
    onTestFinished(async () => {
      await running.close();
      await publisher.close();
    });
    for (const [way, ask] of Object.entries(authenticatedCalls)) {
      const told = await ask(running.url, `Bearer ${await first.sign()}`);
      expect({ way, ...told }).toMatchObject({ way, code: Code.Unavailable, retryAfter: "5", challenge: null });
      expect((await ask(running.url)).code).toBe(Code.Unauthenticated);
    }
    expect((await running.get("/readyz")).status).toBe(200);
  });
});

describe("a token that was good", () => {
  test("is taken for good without another look for a minute, and never beyond its expiry", async () => {
    const { publisher, tokens, pass } = await checking([first], { cooldown: 0 });
    const long = await first.sign({ exp: at(3600) });
    const short = await first.sign({ exp: at(40) });
    for (const token of [long, short]) {
      expect(await tokens.check(token)).toBe("good");
      expect(tokens.check(token)).toBe("good");
    }
    // The key is withdrawn, which a token of an unknown key makes known.
    publisher.published = [second];
    await tokens.check(await second.sign());
    pass(39);
    expect(tokens.check(short)).toBe("good");
    pass(2);
    expect(tokens.check(short)).toBeInstanceOf(Promise);
    expect(await tokens.check(short)).toEqual(UNPUBLISHED);
    expect(tokens.check(long)).toBe("good");
    pass(20);
    expect(await tokens.check(long)).toEqual(UNPUBLISHED);
  });

  test("is forgotten when ten thousand others have come, and one that was wrong is never remembered", async () => {
    const { tokens } = await checking([second]);
    const oldest = await second.sign({ jti: "oldest" });
    expect(await tokens.check(oldest)).toBe("good");
    expect(tokens.check(oldest)).toBe("good");
    for (let index = 0; index < 10_000; index += 100) {
      const some = await Promise.all(Array.from({ length: 100 }, (_, more) => second.sign({ jti: `${index + more}` })));
      await Promise.all(some.map(async (token) => tokens.check(token)));
    }
    expect(tokens.check(oldest)).toBeInstanceOf(Promise);
    const wrong = await second.sign({ exp: at(-100) });
    await tokens.check(wrong);
    expect(tokens.check(wrong)).toBeInstanceOf(Promise);
  }, 60_000);
});
