/** Path normalisation: extra slashes and escapes; and unknown paths. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Running, serveFile } from "../../fixtures/run-service.js";

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

const invalid = {
  error: "invalid_argument",
  error_description: "registrar: must be at least 1 characters; instrumentIdentifier: value is required",
};

test.each([
  "/api/utilities/v0/contract/instrument-configuration",
  "/api/utilities/v0/contract/instrument-configuration/",
  "//api/utilities/v0//contract/instrument-configuration",
  "/%61pi/utilities/v0/contract/instrument-configuration",
])("%s reaches the same operation, with its form of errors", async (path) => {
  const answer = await running.post(path, {});
  expect(answer.status).toBe(400);
  expect(answer.body).toEqual(invalid);
});

test.each(["/x", "/api/token-standard/v0/registrars/a/registry/x", "/offledger.burn.v0.BurnService/Nothing"])(
  "%s is not served",
  async (path) => {
    const answer = await running.post(path, {});
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({ error: `nothing is served at POST ${path}` });
  },
);

test("an unknown utility path has the error body of utility operations", async () => {
  const answer = await running.post("//api/utilities/v0/nothing", {});
  expect(answer.status).toBe(404);
  expect(answer.body).toEqual({
    error: "not_found",
    error_description: "nothing is served at POST //api/utilities/v0/nothing",
  });
});

test("an operation is served only for its HTTP method", async () => {
  const response = await fetch(`${running.url}/api/utilities/v0/contract/instrument-configuration`);
  expect(response.status).toBe(405);
});
