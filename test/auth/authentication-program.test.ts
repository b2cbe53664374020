/** Tokens as the operator meets them: which operations need one, and what the log says. */
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApp } from "../../src/app/app.js";
import { SettingError } from "../../src/config/setting-error.js";
import { main, Program, run } from "../fixtures/program.js";
import { quiet, serveFile } from "../fixtures/run-service.js";
import { ways } from "../fixtures/bearing.js";
import { AUDIENCE, ISSUER, Key, Publisher } from "../fixtures/issuer.js";

const key = await Key.make("first");
const publisher = new Publisher([key]);
beforeAll(() => publisher.open());
afterAll(() => publisher.close());

const service = "offledger.operator.v0.OperatorService";
const settings = () => ({ authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE });

describe("chosen operations", () => {
  test.each([
    ["an operation", [`${service}/GetOperator`], 401, 200],
    ["a service", [service], 401, 401],
    ["another operation", [`${service}/GetAllPackages`], 200, 401],
  ])("%s", async (_title, authOperations, operator, packages) => {
    const running = await serveFile(undefined, { config: { ...settings(), authOperations } });
    try {
      expect((await running.get("/api/utilities/v0/operator")).status).toBe(operator);
      expect((await running.get("/api/utilities/v0/package/all")).status).toBe(packages);
      for (const way of ["Connect", "Connect GET", "gRPC", "gRPC-Web", "REST HEAD"]) {
        const told = await ways[way]?.(running.url);
        expect({ way, code: told?.code }).toEqual({ way, code: operator === 401 ? Code.Unauthenticated : 0 });
      }
      expect((await ways["REST POST"]?.(running.url))?.code).toBe(0);
    } finally {
      await running.close();
    }
  });

  test.each([
    ["offledger.operator.v0.OperatorServic", 'there is no "offledger.operator.v0.OperatorServic"'],
    [`${service}/`, `there is no "${service}/"`],
    [`${service}/getOperator`, "there is no"],
    ["offledger.health.v1.HealthService", "is always open"],
    ["offledger.health.v1.HealthService/GetLiveness", "is always open"],
  ])("%s ends the start", async (name, words) => {
    const starting = startApp({ ...quiet(), ...settings(), authOperations: [service, name] });
    await expect(starting).rejects.toThrow(SettingError);
    await expect(starting).rejects.toThrow(words);
  });

  test("a password in the URL of the keys ends the start, and is not told", async () => {
    const authJwksUrl = new URL("http://name:hidden@127.0.0.1/keys");
    const starting = startApp({ ...quiet(), ...settings(), authJwksUrl });
    await expect(starting).rejects.toThrow(SettingError);
    await expect(starting).rejects.not.toThrow("hidden");
  });

  test("the program names the variable, and ends with 2", async () => {
    const env = { ...variables(), OFFLEDGER_AUTH_OPERATIONS: "operator" };
    const { code, out, err } = await run(process.execPath, [main, "serve"], { cwd: ".", env });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(
      'OFFLEDGER_AUTH_OPERATIONS must be full names of operations or services: there is no "operator"',
    );
  });
});

const variables = () => ({
  OFFLEDGER_PORT: "0",
  OFFLEDGER_LOG_LEVEL: "trace",
  OFFLEDGER_AUTH_JWKS_URL: publisher.url.href,
  OFFLEDGER_AUTH_ISSUER: ISSUER,
  OFFLEDGER_AUTH_AUDIENCE: AUDIENCE,
});

describe("the log, at its most talkative,", () => {
  test.each([
    ["with tokens", variables, false],
    ["with tokens, and the issuer away", variables, true],
    ["of a public service", () => ({ OFFLEDGER_PORT: "0", OFFLEDGER_LOG_LEVEL: "trace" }), false],
  ])("%s holds nothing of a token", async (_title, env, isAway) => {
    if (isAway) publisher.published = { status: 500, body: "" };
    const program = new Program(process.execPath, [main, "serve"], { cwd: ".", env: env() });
    const url = (await program.printed(/at (http:\/\/\S+)/))[1] ?? "";
    const present = Math.floor(Date.now() / 1000);
    const tokens = [
      await key.sign({ exp: present + 600 }),
      await key.sign({ exp: present - 600 }),
      await key.sign({ exp: present + 600, iss: "wrong" }),
      await key.sign({ exp: present + 600 }, { kid: "unknown" }),
      "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ3YWxsZXQifQ.",
      "garbage-that-is-no-token",
    ];
    for (const token of tokens) {
      for (const ask of Object.values(ways)) await ask(url, `Bearer ${token}`);
      // What cannot be routed, what is not found, and what is too much of a head.
      const headers = { authorization: `Bearer ${token}` };
      for (const path of ["/nothing", "/%zz", `/livez?access_token=${token}`]) await fetch(url + path, { headers });
      await fetch(url, { headers: { ...headers, "x-much": "x".repeat(20_000) } });
    }
    program.stop();
    const { code, out, err } = await program.ended();
    publisher.published = [key];
    expect(code).toBe(0);
    expect(err.includes("the keys for tokens cannot be had")).toBe(isAway);
    for (const piece of ["Bearer", ...tokens.flatMap((token) => token.split(".")).filter((one) => one !== "")]) {
      expect(out + err).not.toContain(piece);
    }
  });
});
