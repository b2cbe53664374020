/** The operator's port with a token: which requests need it, on every protocol. */
import { rename, rm, writeFile } from "node:fs/promises";
import { request as requestHttp, type IncomingMessage } from "node:http";
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { OperatorToken } from "../../../src/transport/operator/access.js";
import { until } from "../../fixtures/wait.js";
import { guardedCalls } from "./guarded-calls.js";
import { CLOSED_PAGE, fileOf, METRICS, OPEN_PAGE, serveOperator, TOKEN } from "./serve-operator.js";

const statusOf = async (url: string, authorization?: string, method = "GET"): Promise<number> =>
  (await fetch(url, { method, ...(authorization !== undefined && { headers: { authorization } }) })).status;

describe.each(Object.entries(guardedCalls))("%s", (_protocol, call) => {
  test("needs the token", async () => {
    const { url } = await serveOperator({ tokenFile: await fileOf(`${TOKEN}\n`) });
    const missing = { code: Code.Unauthenticated, message: "bearer token required in the Authorization header" };
    expect(await call(url)).toEqual({ ...missing, challenge: 'Bearer realm="offledger"' });
    expect(await call(url, `Basic ${TOKEN}`)).toMatchObject(missing);
    for (const wrong of [`${TOKEN}0`, TOKEN.slice(1), TOKEN.toUpperCase(), "x".repeat(10_000)]) {
      const seen = await call(url, `Bearer ${wrong}`);
      expect(seen).toMatchObject({ code: Code.Unauthenticated, message: "token is not the one of the operator" });
      expect(seen.challenge).toMatch(/^Bearer realm="offledger", error="invalid_token"/);
    }
    expect(await call(url, `Bearer ${TOKEN}`)).toMatchObject({ code: "ok" });
  });
});

test("metrics, warnings, pages and unknown paths need the token, but not the paths that are open", async () => {
  const { url } = await serveOperator({ tokenFile: await fileOf(TOKEN) });
  const right = `Bearer ${TOKEN}`;
  for (const path of ["/metrics", "/warnings", CLOSED_PAGE, "/livez"]) {
    expect([path, await statusOf(url + path)]).toEqual([path, 401]);
    expect([path, await statusOf(url + path, right)]).toEqual([path, 200]);
  }
  for (const path of ["/", "/docs", "/nothing", "/metrics/", "//metrics", `${OPEN_PAGE}/nothing`, "/page%2Fdata"]) {
    expect([path, await statusOf(url + path)]).toEqual([path, 401]);
    expect([path, await statusOf(url + path, right)]).toEqual([path, 404]);
  }
  expect(await statusOf(url + OPEN_PAGE)).toBe(200);
  expect(await statusOf(url + OPEN_PAGE, undefined, "POST")).toBe(401);
  expect(await statusOf(url + OPEN_PAGE, right, "POST")).toBe(405);
  const response = await fetch(`${url}/metrics`);
  expect(response.headers.get("www-authenticate")).toBe('Bearer realm="offledger"');
  expect(await response.json()).toEqual({ error: "bearer token required in the Authorization header" });
});

test("a request with two tokens is rejected", async () => {
  const { url } = await serveOperator({ tokenFile: await fileOf(TOKEN) });
  const sent = requestHttp(`${url}/livez`).setHeader("authorization", [`Bearer ${TOKEN}`, "Bearer other"]);
  sent.end();
  const response = await new Promise<IncomingMessage>((resolve) => sent.once("response", resolve));
  response.resume();
  expect(response.statusCode).toBe(401);
});

test("with a token any host and any address is served", async () => {
  const { url } = await serveOperator({ tokenFile: await fileOf(TOKEN), host: "0.0.0.0" });
  const { port } = new URL(url);
  const headers = { host: "registry.example", authorization: `Bearer ${TOKEN}` };
  const sent = requestHttp({ host: "127.0.0.1", port, path: "/livez", headers });
  sent.end();
  const response = await new Promise<IncomingMessage>((resolve) => sent.once("response", resolve));
  response.resume();
  expect(response.statusCode).toBe(200);
});

test("the token is read again when its file changes", async () => {
  const tokenFile = await fileOf(TOKEN);
  const { url, messages } = await serveOperator({ tokenFile });
  const metrics = `${url}/metrics`;
  const accepts = async (token: string) => (await statusOf(metrics, `Bearer ${token}`)) === 200;
  expect(await accepts(TOKEN)).toBe(true);
  await rename(await fileOf("another-token-of-24-char"), tokenFile);
  await until("the second token is accepted", () => accepts("another-token-of-24-char"));
  expect(await accepts(TOKEN)).toBe(false);
  expect(messages).toEqual(["operator token reloaded"]);
  await writeFile(tokenFile, "short");
  await until("the failure is logged", () => messages.length === 2);
  await rm(tokenFile);
  await until("the failure is logged again", () => messages.length === 3);
  expect(messages.slice(1)).toEqual(
    Array.from({ length: 2 }, () => "operator token reload failed; still accepting the previous one"),
  );
  expect(await accepts("another-token-of-24-char")).toBe(true);
  await writeFile(tokenFile, `\n${TOKEN}\n`);
  await until("the last token is accepted", () => accepts(TOKEN));
  expect(await (await fetch(metrics, { headers: { authorization: `Bearer ${TOKEN}` } })).text()).toBe(METRICS);
});

describe("a token file", () => {
  test.each([
    ["that is empty", "\n", "has 0 characters"],
    ["with 15 characters", " 0123456789abcde\n", "has 15 characters"],
    ["with two words", "0123456789 abcdef", "has spaces, or is not ASCII"],
    ["with other letters", "0123456789abcdéf", "has spaces, or is not ASCII"],
  ])("%s is rejected without showing the token", async (_title, content, reason) => {
    const path = await fileOf(content);
    const failure: unknown = await OperatorToken.read(path).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "OperatorTokenError", message: `the token in ${path} ${reason}` });
  });

  test("that is missing is rejected with its path", async () => {
    const path = `${await fileOf(TOKEN)}-missing`;
    await expect(OperatorToken.read(path)).rejects.toThrow(`${path} cannot be read (ENOENT)`);
  });
});
