/** Which tokens are accepted, on every protocol. */
import { createHmac } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clients } from "../fixtures/protocols.js";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { callNamed, cashTransfer } from "../fixtures/calls/index.js";
import { requestHttp1 } from "../fixtures/http-requests.js";
import { at, AUDIENCE, ISSUER, Key, NOW, JwksServer } from "../fixtures/issuer.js";

const [first, second, foreign] = await Promise.all([Key.make("first"), Key.make("second", "ES256"), Key.make("first")]);
const publisher = new JwksServer([first, second]);

let running: Running;
let open: Running;
beforeAll(async () => {
  await publisher.open();
  const config = { authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE };
  running = await serveFile(undefined, { now: NOW, config });
  open = await serveFile(undefined, { now: NOW });
});
afterAll(async () => {
  await running.close();
  await open.close();
  await publisher.close();
});

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const validClaims = { iss: ISSUER, aud: AUDIENCE, exp: at(3600) };

/** A token signed by HMAC with the public key as secret. */
function signWithPublicKey(): string {
  const signed = `${part({ alg: "HS256", kid: "first" })}.${part(validClaims)}`;
  return `${signed}.${createHmac("sha256", first.pem).update(signed).digest("base64url")}`;
}

/** Each with a part of the expected message. */
const invalidTokens: readonly (readonly [title: string, message: string, token: () => string | Promise<string>])[] = [
  ["expired", "token expired", () => first.sign({ exp: at(-31) })],
  ["not yet valid", "not valid yet", () => first.sign({ nbf: at(31) })],
  ["without expiry", "(exp)", () => first.sign({ exp: undefined })],
  ["of another issuer", "(iss)", () => first.sign({ iss: "https://other.example/" })],
  ["without issuer", "(iss)", () => first.sign({ iss: undefined })],
  ["for another audience", "(aud)", () => first.sign({ aud: ["another", "offledger"] })],
  ["without audience", "(aud)", () => first.sign({ aud: undefined })],
  ["without signature", "allowed are RS256, ", () => `${part({ alg: "none" })}.${part(validClaims)}.`],
  ["signed with the public key as secret", "allowed are RS256, ", signWithPublicKey],
  ["signed with an unknown key", "does not publish", async () => (await Key.make("third")).sign()],
  ["signed with another key of the same name", "signature", () => foreign.sign()],
  ["that names a key of another algorithm", "does not publish", () => first.sign({}, { kid: "second" })],
  ["that is truncated", "signature", async () => (await first.sign()).slice(0, -20)],
  ["that is garbage", "signed JWT", () => "garbage"],
  ["that is too long", "8192", () => "x".repeat(8_193)],
  ["whose expiry is a string", "(exp)", () => first.sign({ exp: "2036" as unknown as number })],
];

const operator = callNamed("operator");

test.each(Object.entries(clients))(
  "%s: a valid token is accepted, whose clock may differ by half a minute",
  async (way, send) => {
    // One operation has a body, which waits while the token is checked.
    for (const call of [operator, cashTransfer]) {
      for (const authorization of [
        `Bearer ${await first.sign({ jti: way })}`,
        `bEaReR  ${await second.sign({ jti: way })}`,
        `Bearer ${await first.sign({ aud: ["x", AUDIENCE], typ: "any" })}`,
        `Bearer ${await first.sign({ exp: at(-29) })}`,
        `Bearer ${await first.sign({ nbf: at(29) })}`,
      ])
        expect(await send(running.url, call, { headers: { authorization } })).toMatchObject({ code: 0 });
      for (const headers of [{}, { authorization: "Basic d2FsbGV0OnNlY3JldA==" }]) {
        const result = await send(running.url, call, { headers });
        expect(result).toMatchObject({
          code: Code.Unauthenticated,
          message: expect.stringMatching(/^bearer token required/),
        });
        expect(result.headers.get("www-authenticate")).toBe('Bearer realm="offledger"');
        // A public service ignores tokens.
        expect(await send(open.url, call, { headers: { authorization: "Bearer garbage" } })).toMatchObject({ code: 0 });
      }
    }
  },
);

// The error of each protocol is in transport/matrix.test.ts.
test.each(invalidTokens)("a token is rejected: %s", async (_title, message, token) => {
  const text = await token();
  const response = await fetch(running.url + operator.path, { headers: { authorization: `Bearer ${text}` } });
  const challenge = response.headers.get("www-authenticate");
  const body = (await response.json()) as { readonly error_description: string };
  expect([response.status, body]).toMatchObject([401, { error: "unauthenticated" }]);
  expect(challenge).toMatch(/^Bearer realm="offledger", error="invalid_token", error_description="[^"\\]+"$/);
  for (const said of [challenge, body.error_description]) expect(said).toContain(message);
  for (const one of text.split(".").filter((piece) => piece.length > 8))
    expect(JSON.stringify([challenge, body])).not.toContain(one);
});

const status = async (path: string, init?: RequestInit) => (await fetch(running.url + path, init)).status;

test.each(["/livez", "/readyz", "/docs", "/docs/json", "/docs/static/swagger-ui.css", "/api/utilities/v0/openapi"])(
  "%s is open",
  async (path) => expect(await status(path)).toBe(200),
);

test("an unknown path gets 404, with and without a token; HEAD is as protected as GET", async () => {
  const headers = { authorization: "Bearer garbage" };
  expect([await status("/nothing"), await status("/nothing", { headers })]).toEqual([404, 404]);
  const head = await fetch(running.url + operator.path, { method: "HEAD", headers });
  expect([head.status, head.headers.get("www-authenticate"), await head.text()]).toEqual([
    401,
    expect.stringContaining("invalid_token"),
    "",
  ]);
});

test("a request with two Authorization headers is rejected, even if the first token is valid", async () => {
  const headers = {
    Authorization: [`Bearer ${await first.sign()}`, "Bearer other"],
    "content-type": "application/json",
  };
  const response = await requestHttp1(running.url, cashTransfer.path, headers, JSON.stringify(cashTransfer.body));
  expect([response.status, JSON.parse(response.body)]).toEqual([
    401,
    { error: expect.stringContaining("more than one Authorization header") as string },
  ]);
});

test("a request with a token in its query, or nothing after Bearer, is rejected", async () => {
  expect(await status(`${operator.path}?access_token=${await first.sign()}`)).toBe(401);
  const response = await fetch(running.url + operator.path, { headers: { authorization: "Bearer" } });
  expect(await response.json()).toEqual({
    error: "unauthenticated",
    error_description: expect.stringContaining("no token after Bearer") as string,
  });
});

test("no token is sent to the issuer", () => {
  expect(publisher.requestCount).toBeGreaterThan(0);
  expect(publisher.headers.join(" ").toLowerCase()).not.toContain("bearer");
});
