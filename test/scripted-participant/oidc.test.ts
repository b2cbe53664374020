import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask } from "./test-client.js";
import { Issuer } from "./oidc.js";
import { Participant } from "./participant.js";
import { Tokens } from "./tokens.js";

let issuer: Issuer;
beforeEach(async () => {
  issuer = await Issuer.start({ clientId: "off ledger", clientSecret: "s:e+c%ret", expiresIn: 60 });
});
afterEach(() => issuer.close());

const good = {
  grant_type: "client_credentials",
  client_id: "off ledger",
  client_secret: "s:e+c%ret",
  audience: "https://ledger",
};

async function token(form: Record<string, string>, headers: Record<string, string> = {}) {
  const response = await fetch(`${issuer.url}/token`, { method: "POST", body: new URLSearchParams(form), headers });
  const text = await response.text();
  return { status: response.status, body: text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {} };
}

test("the configuration leads to the token endpoint", async () => {
  const { body } = await ask(`${issuer.url}/.well-known/openid-configuration`);
  expect(body).toMatchObject({ issuer: issuer.url, token_endpoint: `${issuer.url}/token` });
  expect(issuer.discoveries).toBe(1);
});

test("a token is valid for expires_in", async () => {
  const { status, body } = await token(good);
  expect(status).toBe(200);
  expect(body).toEqual({ access_token: issuer.issued[0], token_type: "Bearer", expires_in: 60 });
  const left = issuer.tokens.endOf(issuer.issued[0] ?? "") - Date.now();
  expect(left).toBeGreaterThan(55_000);
  expect(left).toBeLessThanOrEqual(60_000);
  issuer.expiresIn = 5;
  expect((await token(good)).body.expires_in).toBe(5);
});

test("a client may send its secret in the form or in the header", async () => {
  const header = Buffer.from("off+ledger:s%3Ae%2Bc%25ret").toString("base64");
  await token(good);
  expect((await token({ grant_type: "client_credentials" }, { authorization: `Basic ${header}` })).status).toBe(200);
  expect(issuer.asked).toMatchObject([
    { by: "post", status: 200, form: { audience: "https://ledger" } },
    { by: "basic", status: 200 },
  ]);
});

test.each([
  ["a wrong secret", { ...good, client_secret: "other" }, 401, "invalid_client"],
  ["no secret", { grant_type: "client_credentials" }, 401, "invalid_client"],
  ["another grant", { ...good, grant_type: "password" }, 400, "unsupported_grant_type"],
])("%s is rejected", async (_, form, status, error) => {
  expect(await token(form)).toEqual({ status, body: { error } });
  expect(issuer.issued).toEqual([]);
});

test("it fails `times` times", async () => {
  issuer.fail(2);
  expect((await ask(`${issuer.url}/.well-known/openid-configuration`)).status).toBe(503);
  expect((await token(good)).status).toBe(503);
  expect((await token(good)).status).toBe(200);
  issuer.fail(1, 500);
  expect((await token(good)).status).toBe(500);
  expect(issuer.asked.map(({ status }) => status)).toEqual([503, 200, 500]);
});

describe("with a participant", () => {
  test("accepts issued tokens, optionally without expires_in", async () => {
    const tokens = new Tokens();
    const participant = await Participant.start({ tokens });
    const terse = await Issuer.start({ tokens, tellsExpiry: false });
    const response = await fetch(`${terse.url}/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: "offledger",
        client_secret: "secret",
      }),
    });
    const body = (await response.json()) as { access_token: string };
    expect(Object.keys(body)).toEqual(["access_token", "token_type"]);
    expect((await ask(`${participant.url}/v2/version`, undefined, body.access_token)).status).toBe(200);
    await terse.close();
    await participant.close();
  });
});
