/** Which tokens are taken: the same on every protocol. */
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
const good = { iss: ISSUER, aud: AUDIENCE, exp: at(3600) };

/** A token signed with the published key as if it were a secret. */
function byPublicKey(): string {
  const signed = `${part({ alg: "HS256", kid: "first" })}.${part(good)}`;
  return `${signed}.${createHmac("sha256", first.pem).update(signed).digest("base64url")}`;
}

async function tampered(): Promise<string> {
  const [head, , signature] = (await first.sign({ exp: at(-3600) })).split(".");
  return `${head}.${part(good)}.${signature}`;
}

/** Each with a part of the words. */
const wrong: readonly (readonly [title: string, words: string, token: () => string | Promise<string>])[] = [
  ["expired", "has expired", () => first.sign({ exp: at(-31) })],
  ["not yet valid", "not valid yet", () => first.sign({ nbf: at(31) })],
  ["without expiry", "(exp)", () => first.sign({ exp: undefined })],
  ["of another issuer", "(iss)", () => first.sign({ iss: "https://other.example/" })],
  ["without issuer", "(iss)", () => first.sign({ iss: undefined })],
  ["for another audience", "(aud)", () => first.sign({ aud: ["another", "offledger"] })],
  ["without audience", "(aud)", () => first.sign({ aud: undefined })],
  ["without signature", "RS256, ES256", () => `${part({ alg: "none" })}.${part(good)}.`],
  ["signed by the public key as a secret", "RS256, ES256", byPublicKey],
  ["signed by an algorithm that is not named", "RS256, ES256", async () => (await Key.make("first", "PS256")).sign()],
  ["signed by an unknown key", "does not publish", async () => (await Key.make("third")).sign()],
  ["signed by another key of that name", "signature", () => foreign.sign()],
  ["of one algorithm that names a key of another", "does not publish", () => first.sign({}, { kid: "second" })],
  ["with other claims than were signed", "signature", tampered],
  ["with a header that has to be understood", "signed JWT", () => crit()],
  ["that is cut", "signature", async () => (await first.sign()).slice(0, -20)],
  ["that is garbage", "signed JWT", () => "garbage"],
  ["of garbage in three parts", "signed JWT", () => "a.b.c"],
  ["that is too long", "8192", () => "x".repeat(8_193)],
  ["whose expiry is a text", "(exp)", () => first.sign({ exp: "2036" as unknown as number })],
];

async function crit(): Promise<string> {
  const [, payload, signature] = (await first.sign()).split(".");
  return `${part({ alg: "RS256", kid: "first", crit: ["secret-extension"], "secret-extension": 1 })}.${payload}.${signature}`;
}

describe.each(Object.entries(authenticatedCalls))("%s", (way, ask) => {
  /** An answer to HEAD says nothing. */
  const said = (words: string): string => (way === "REST HEAD" ? "" : words);

  test("takes a token that is good", async () => {
    for (const key of [first, second]) {
      expect(await ask(running.url, `Bearer ${await key.sign({ jti: way })}`)).toMatchObject({ code: 0 });
    }
    expect(await ask(running.url, `bEaReR  ${await first.sign({ jti: `${way}, too` })}`)).toMatchObject({ code: 0 });
    expect(await ask(running.url, `Bearer ${await first.sign({ aud: ["x", AUDIENCE], typ: "any" })}`)).toMatchObject({
      code: 0,
    });
  });

  test("allows for clocks that differ by half a minute", async () => {
    expect(await ask(running.url, `Bearer ${await first.sign({ exp: at(-29) })}`)).toMatchObject({ code: 0 });
    expect(await ask(running.url, `Bearer ${await first.sign({ nbf: at(29) })}`)).toMatchObject({ code: 0 });
  });

  test.each([undefined, "Basic d2FsbGV0OnNlY3JldA=="])("asks for a token: %s", async (authorization) => {
    const told = await ask(running.url, authorization);
    expect(told).toMatchObject({ code: Code.Unauthenticated, challenge: 'Bearer realm="offledger"' });
    expect(told.message).toContain(said("needs a bearer token"));
  });

  test.each(wrong)("takes none %s", async (_title, words, token) => {
    const text = await token();
    const told = await ask(running.url, `Bearer ${text}`);
    expect(told.code).toBe(Code.Unauthenticated);
    expect(told.challenge).toMatch(/^Bearer realm="offledger", error="invalid_token", error_description="[^"\\]+"$/);
    expect(told.challenge).toContain(words);
    expect(told.message).toContain(said(words));
    for (const one of text.split(".").filter((piece) => piece.length > 8))
      expect(JSON.stringify(told)).not.toContain(one);
    expect(JSON.stringify(told)).not.toContain("secret-extension");
  });

  test("a service that asks for none ignores it", async () => {
    for (const token of ["garbage", `${part({ alg: "none" })}.${part({})}.`, await first.sign({ exp: at(-1e6) })]) {
      expect(await ask(open.url, `Bearer ${token}`)).toMatchObject({ code: 0 });
    }
  });
});

const status = async (path: string, init?: RequestInit) => (await fetch(running.url + path, init)).status;

describe("by default", () => {
  test.each(["/livez", "/readyz", "/docs", "/docs/json", "/docs/static/swagger-ui.css", "/api/utilities/v0/openapi"])(
    "%s is open",
    async (path) => expect(await status(path)).toBe(200),
  );

  test("what is not served is not found, with and without a token", async () => {
    expect(await status("/nothing")).toBe(404);
    expect(await status("/nothing", { headers: { authorization: "Bearer garbage" } })).toBe(404);
  });

  test("every operation of the document needs one, but those that are open", async () => {
    const paths = (await (await fetch(`${running.url}/docs/json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const asked = Object.entries(paths.paths).flatMap(([path, verbs]) =>
      Object.keys(verbs).map((verb) => [path, verb] as const),
    );
    const openOnes: string[] = [];
    for (const [path, verb] of asked) {
      if ((await status(path, { method: verb.toUpperCase() })) !== 401) openOnes.push(path);
    }
    expect(asked.length).toBeGreaterThan(40);
    expect(openOnes.toSorted()).toEqual(["/api/utilities/v0/openapi", "/livez", "/readyz"]);
  });
});

describe("a request", () => {
  test("with two Authorization headers is refused, though the first token is good", async () => {
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
      error: expect.stringContaining("several Authorization headers"),
    });
  });

  test("with a token in its query has none", async () => {
    const token = await first.sign();
    const response = await fetch(`${running.url}/api/utilities/v0/operator?access_token=${token}`);
    expect(response.status).toBe(401);
  });

  test("with nothing behind Bearer", async () => {
    const response = await fetch(`${running.url}/api/utilities/v0/operator`, { headers: { authorization: "Bearer" } });
    expect(await response.json()).toEqual({
      error: "unauthenticated",
      error_description: expect.stringContaining("behind Bearer"),
    });
  });

  test("that is refused leaves its connection to the next, whatever its body", async () => {
    for (const size of [10, 100_000]) {
      const response = await fetch(running.url + transferFactory, { method: "POST", body: "x".repeat(size) });
      expect(response.status).toBe(401);
    }
  });
});

test("the issuer is told nothing of a token", () => {
  expect(publisher.requestCount).toBeGreaterThan(0);
  expect(publisher.headers.join(" ").toLowerCase()).not.toContain("bearer");
});
