/** Authentication in the program: which operations are protected, and what is logged. */
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApp } from "../../src/app/app.js";
import { SettingError } from "../../src/config/setting.js";
import { main, Program } from "../fixtures/program.js";
import { quiet, serveFile } from "../fixtures/run-service.js";
import { callNamed, cashTransfer } from "../fixtures/calls/index.js";
import { clients } from "../fixtures/protocols.js";
import { AUDIENCE, ISSUER, Key, JwksServer } from "../fixtures/issuer.js";

const key = await Key.make("first");
const publisher = new JwksServer([key]);
beforeAll(() => publisher.open());
afterAll(() => publisher.close());

const service = "offledger.operator.v0.OperatorService";
const settings = () => ({ authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE });

describe("OFFLEDGER_AUTH_OPERATIONS", () => {
  test.each([
    ["an operation", [`${service}/GetOperator`], 401, 200],
    ["a service", [service], 401, 401],
    ["another operation", [`${service}/GetAllPackages`], 200, 401],
  ])("%s", async (_title, authOperations, operator, packages) => {
    const running = await serveFile(undefined, { config: { ...settings(), authOperations } });
    try {
      expect((await running.get("/api/utilities/v0/operator")).status).toBe(operator);
      expect((await running.get("/api/utilities/v0/package/all")).status).toBe(packages);
      for (const [way, send] of Object.entries(clients)) {
        const { code } = await send(running.url, callNamed("operator"));
        expect({ way, code }).toEqual({ way, code: operator === 401 ? Code.Unauthenticated : 0 });
        expect((await send(running.url, cashTransfer)).code).toBe(0);
      }
    } finally {
      await running.close();
    }
  });

  test.each([
    ["offledger.operator.v0.OperatorServic", '"offledger.operator.v0.OperatorServic" is not served'],
    [`${service}/`, `"${service}/" is not served`],
    ["offledger.health.v1.HealthService/GetLiveness", "needs no token"],
  ])("%s stops the start", async (name, message) => {
    const starting = startApp({ ...quiet(), ...settings(), authOperations: [service, name] });
    await expect(starting).rejects.toThrow(SettingError);
    await expect(starting).rejects.toThrow("OFFLEDGER_AUTH_OPERATIONS must be full names of operations or services: ");
    await expect(starting).rejects.toThrow(message);
  });

  test("a password in the JWKS URL stops the start and is not printed", async () => {
    const authJwksUrl = new URL("http://name:hidden@127.0.0.1/keys");
    const starting = startApp({ ...quiet(), ...settings(), authJwksUrl });
    await expect(starting).rejects.toThrow(SettingError);
    await expect(starting).rejects.not.toThrow("hidden");
  });
});

const variables = () => ({
  OFFLEDGER_PORT: "0",
  OFFLEDGER_LOG_LEVEL: "trace",
  OFFLEDGER_AUTH_JWKS_URL: publisher.url.href,
  OFFLEDGER_AUTH_ISSUER: ISSUER,
  OFFLEDGER_AUTH_AUDIENCE: AUDIENCE,
});

describe("the log at level trace", () => {
  test.each([
    ["with tokens", variables, false],
    ["with tokens and the issuer unavailable", variables, true],
    ["of a public service", () => ({ OFFLEDGER_PORT: "0", OFFLEDGER_LOG_LEVEL: "trace" }), false],
  ])("%s contains no part of a token", async (_title, env, isUnavailable) => {
    if (isUnavailable) publisher.published = { status: 500, body: "" };
    const program = new Program(process.execPath, [main, "serve"], { cwd: ".", env: env() });
    const url = await program.listens();
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
      const headers = { authorization: `Bearer ${token}` };
      for (const send of Object.values(clients)) await send(url, callNamed("operator"), { headers });
      // A malformed path, an unknown path, and a header that is too large.
      for (const path of ["/nothing", "/%zz", `/livez?access_token=${token}`]) await fetch(url + path, { headers });
      await fetch(url, { headers: { ...headers, "x-much": "x".repeat(20_000) } });
    }
    program.stop();
    const { code, out, err } = await program.ended();
    publisher.published = [key];
    expect(code).toBe(0);
    expect(err.includes("issuer keys unavailable")).toBe(isUnavailable);
    for (const piece of ["Bearer", ...tokens.flatMap((token) => token.split(".")).filter((one) => one !== "")]) {
      expect(out + err).not.toContain(piece);
    }
  });
});
