/** The HTTP responses of /docs, also compressed, and those of other paths. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { party } from "../../demo/element.js";
import { gunzipMember } from "../fixtures/gzip-member.js";
import { accepting, sendHttp1 } from "../fixtures/requests-in-forms.js";
import { registry, type Running, serveFile } from "../fixtures/run-service.js";

const document = JSON.parse(readFileSync("gen/openapi.json", "utf8")) as unknown;
const csp = "content-security-policy";
const info = `${registry(party("nordic-registrar"))}/metadata/v1/info`;

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

const get = (path: string): Promise<Response> => fetch(running.url + path);

describe("the page", () => {
  test.each([
    ["/docs", "text/html"],
    ["/docs/json", "application/json"],
    ["/docs/static/swagger-ui-bundle.js", "javascript"],
    ["/docs/static/theme/icon.svg", "image/svg+xml"],
  ])("%s is %s, with a content security policy", async (path, type) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain(type);
    expect(response.headers.get(csp)).toContain("default-src 'self'");
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
  });

  test("allows scripts of its own origin only, and no frames", async () => {
    const policy = (await get("/docs")).headers.get(csp) ?? "";
    const directives = Object.fromEntries(
      policy.split(";").map((directive) => directive.trim().split(/ (.*)/).slice(0, 2) as [string, string]),
    );
    // Without a directive scripts and requests use the default.
    expect(directives["default-src"]).toBe("'self'");
    expect(directives["script-src"] ?? "'self'").toBe("'self'");
    expect(directives["connect-src"] ?? "'self'").toBe("'self'");
    expect(directives["frame-ancestors"]).toBe("'none'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  });

  test("shows the OpenAPI document of the API", async () => {
    expect(await (await get("/docs/json")).json()).toEqual(document);
    expect(await (await get("/api/utilities/v0/openapi")).json()).toEqual(document);
    expect(parse(await (await get("/docs/yaml")).text())).toEqual(document);
  });

  test.each(["/docs/nothing", "/docs/static/nothing.js", "/docs/static/..%2f..%2fpackage.json"])(
    "%s is 404 in the format of the service",
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({ error: expect.stringContaining(path) });
    },
  );
});

test.each([info, "/"])("%s has no content security policy", async (path) => {
  const response = await get(path);
  expect([response.status, response.headers.get(csp)]).toEqual([200, null]);
});

test.each(["/docs/static/swagger-ui-bundle.js", "/api/utilities/v0/openapi"])(
  "%s is compressed for a client that asks, and has the same content",
  async (path) => {
    const request = { method: "GET", path, headers: {} };
    const plain = await sendHttp1(running.url, request);
    expect(plain.headers["content-encoding"]).toBeUndefined();
    const compressed = await sendHttp1(running.url, accepting(request));
    expect(compressed.headers).toMatchObject({
      "content-encoding": "gzip",
      "content-type": plain.headers["content-type"],
      vary: "accept-encoding",
    });
    expect(compressed.body.length).toBeLessThan(plain.body.length / 2);
    expect(gunzipMember(compressed.body).equals(plain.body)).toBe(true);
  },
);
