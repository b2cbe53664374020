/** Which tokens are accepted, on every protocol. */
import { createHmac } from "node:crypto";
import { request as requestHttp } from "node:http";
import { json } from "node:stream/consumers";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Running, serveFile } from "../fixtures/run-service.js";
import { transferBody, transferFactory, authenticatedCalls } from "../fixtures/authenticated-calls.js";
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

async function tampered(): Promise<string> {
  const [head, , signature] = (await first.sign({ exp: at(-3600) })).split(".");
  return `${head}.${part(validClaims)}.${signature}`;
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
  ["without signature", "RS256, ES256", () => `${part({ alg: "none" })}.${part(validClaims)}.`],
  ["signed with the public key as secret", "RS256, ES256", signWithPublicKey],
  [
    "signed with an algorithm that is not accepted",
    "RS256, ES256",
    async () => (await Key.make("first", "PS256")).sign(),
  ],
  ["signed with an unknown key", "does not publish", async () => (await Key.make("third")).sign()],
  ["signed with another key of the same name", "signature", () => foreign.sign()],
  ["that names a key of another algorithm", "does not publish", () => first.sign({}, { kid: "second" })],
  ["with altered claims", "signature", tampered],
  ["with an unknown critical header", "signed JWT", () => signWithCriticalHeader()],
  ["that is truncated", "signature", async () => (await first.sign()).slice(0, -20)],
  ["that is garbage", "signed JWT", () => "garbage"],
  ["that is garbage in three parts", "signed JWT", () => "a.b.c"],
  ["that is too long", "8192", () => "x".repeat(8_193)],
  ["whose expiry is a string", "(exp)", () => first.sign({ exp: "2036" as unknown as number })],
];

async function signWithCriticalHeader(): Promise<string> {
  const [, payload, signature] = (await first.sign()).split(".");
  return `${part({ alg: "RS256", kid: "first", crit: ["secret-extension"], "secret-extension": 1 })}.${payload}.${signature}`;
}

describe.each(Object.entries(authenticatedCalls))("%s", (way, call) => {
  /** A response to HEAD has no message. */
  const inBody = (message: string): string => (way === "REST HEAD" ? "" : message);

  test("accepts a valid token", async () => {
    for (const key of [first, second]) {
      expect(await call(running.url, `Bearer ${await key.sign({ jti: way })}`)).toMatchObject({ code: 0 });
    }
    expect(await call(running.url, `bEaReR  ${await first.sign({ jti: `${way}, too` })}`)).toMatchObject({ code: 0 });
    expect(await call(running.url, `Bearer ${await first.sign({ aud: ["x", AUDIENCE], typ: "any" })}`)).toMatchObject({
      code: 0,
    });
  });

  test("tolerates a clock difference of half a minute", async () => {
    expect(await call(running.url, `Bearer ${await first.sign({ exp: at(-29) })}`)).toMatchObject({ code: 0 });
    expect(await call(running.url, `Bearer ${await first.sign({ nbf: at(29) })}`)).toMatchObject({ code: 0 });
  });

  test.each([undefined, "Basic d2FsbGV0OnNlY3JldA=="])("requires a token: %s", async (authorization) => {
    const result = await call(running.url, authorization);
    expect(result).toMatchObject({ code: Code.Unauthenticated, challenge: 'Bearer realm="offledger"' });
    expect(result.message).toContain(inBody("bearer token required"));
  });

  test.each(invalidTokens)("rejects a token %s", async (_title, message, token) => {
    const text = await token();
    const result = await call(running.url, `Bearer ${text}`);
    expect(result.code).toBe(Code.Unauthenticated);
    expect(result.challenge).toMatch(/^Bearer realm="offledger", error="invalid_token", error_description="[^"\\]+"$/);
    expect(result.challenge).toContain(message);
    expect(result.message).toContain(inBody(message));
    for (const one of text.split(".").filter((piece) => piece.length > 8))
      expect(JSON.stringify(result)).not.toContain(one);
    expect(JSON.stringify(result)).not.toContain("secret-extension");
  });

  test("a public service ignores tokens", async () => {
    for (const token of ["garbage", `${part({ alg: "none" })}.${part({})}.`, await first.sign({ exp: at(-1e6) })]) {
      expect(await call(open.url, `Bearer ${token}`)).toMatchObject({ code: 0 });
    }
  });
});

const status = async (path: string, init?: RequestInit) => (await fetch(running.url + path, init)).status;

describe("by default", () => {
  test.each(["/livez", "/readyz", "/docs", "/docs/json", "/docs/static/swagger-ui.css", "/api/utilities/v0/openapi"])(
    "%s is open",
    async (path) => expect(await status(path)).toBe(200),
  );

  test("an unknown path gets 404, with and without a token", async () => {
    expect(await status("/nothing")).toBe(404);
    expect(await status("/nothing", { headers: { authorization: "Bearer garbage" } })).toBe(404);
  });

  test("every operation of the OpenAPI document is protected, except the open ones", async () => {
    const paths = (await (await fetch(`${running.url}/docs/json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const operations = Object.entries(paths.paths).flatMap(([path, verbs]) =>
      Object.keys(verbs).map((verb) => [path, verb] as const),
    );
    const unprotected: string[] = [];
    for (const [path, verb] of operations) {
      if ((await status(path, { method: verb.toUpperCase() })) !== 401) unprotected.push(path);
    }
    expect(operations.length).toBeGreaterThan(40);
    expect(unprotected.toSorted()).toEqual(["/api/utilities/v0/openapi", "/livez", "/readyz"]);
  });
});

describe("a request", () => {
  test("with two Authorization headers is rejected, even if the first token is valid", async () => {
    const token = await first.sign();
    const sent = requestHttp(running.url + transferFactory, { method: "POST" });
    sent.setHeader("authorization", [`Bearer ${token}`, "Bearer other"]);
    sent.setHeader("content-type", "application/json");
    sent.end(JSON.stringify(transferBody));
    const response = await new Promise<import("node:http").IncomingMessage>((resolve) =>
      sent.once("response", resolve),
    );
    expect(response.statusCode).toBe(401);
    expect(await json(response)).toEqual({
      error: expect.stringContaining("more than one Authorization header"),
    });
  });

  test("with a token in its query is rejected", async () => {
    const token = await first.sign();
    const response = await fetch(`${running.url}/api/utilities/v0/operator?access_token=${token}`);
    expect(response.status).toBe(401);
  });

  test("with nothing after Bearer is rejected", async () => {
    const response = await fetch(`${running.url}/api/utilities/v0/operator`, { headers: { authorization: "Bearer" } });
    expect(await response.json()).toEqual({
      error: "unauthenticated",
      error_description: expect.stringContaining("no token after Bearer"),
    });
  });

  test("that is rejected keeps its connection, with any body", async () => {
    for (const size of [10, 100_000]) {
      const response = await fetch(running.url + transferFactory, { method: "POST", body: "x".repeat(size) });
      expect(response.status).toBe(401);
    }
  });
});

test("no token is sent to the issuer", () => {
  expect(publisher.requestCount).toBeGreaterThan(0);
  expect(publisher.headers.join(" ").toLowerCase()).not.toContain("bearer");
});
