/** OFFLEDGER_AUTH_OPERATIONS: which operations need a token. */
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApp } from "../../src/app/app.js";
import { SettingError } from "../../src/config/setting.js";
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
