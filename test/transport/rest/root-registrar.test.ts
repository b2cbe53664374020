/** The token-standard operations of one registrar at the root, `/registry/…`: each answers as the long form does. */
import { getOption, hasOption } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { http } from "../../../gen/google/api/annotations_pb.js";
import { type App, startApp } from "../../../src/app/app.js";
import type { Config } from "../../../src/config/config.js";
import { RequestLog } from "../../../src/telemetry/request-log.js";
import { acme, nordic } from "../../fixtures/calls/build.js";
import { calls } from "../../fixtures/calls/index.js";
import { type Call, sendRest, verbOf } from "../../fixtures/protocols.js";
import { quiet, registry } from "../../fixtures/run-service.js";
import { nameOf, rpcs } from "../../fixtures/services.js";

const PREFIX = "/api/token-standard/v0/registrars/{registrar_party}/registry/";

/** Every operation whose path names a registrar, by the proto files. */
const ofRegistrar = rpcs.filter((method) => {
  const pattern = hasOption(method, http) ? getOption(method, http).pattern.value : undefined;
  return typeof pattern === "string" && pattern.startsWith(PREFIX);
});

const now = () => Date.parse("2026-06-01T00:00:00Z");
const serve = (config: Partial<Config>): Promise<App> => startApp({ ...quiet(), ...config }, now);

/** A call about this registrar, at the root. */
const atRoot = (call: Call, registrar: string): Call => ({
  ...call,
  path: call.path.replace(registry(registrar), "/registry"),
});
const callsOf = (registrar: string) =>
  Object.entries(calls).filter(([, { path }]) => path.startsWith(`${registry(registrar)}/`));

/** Status, headers and body; without what differs from request to request. */
async function answerTo(url: string, call: Call) {
  const response = await sendRest(url, call);
  const headers = [...response.headers].filter(([name]) => !["date", "x-request-id"].includes(name));
  return { status: response.status, headers, text: await response.text() };
}

test("the calls cover all of these operations", () => {
  const called = new Set([...callsOf(acme), ...callsOf(nordic)].map(([, { method }]) => nameOf(method)));
  expect(ofRegistrar.length).toBeGreaterThan(20);
  expect(ofRegistrar.map(nameOf).filter((name) => !called.has(name))).toEqual([]);
});

describe.each([
  ["acme", acme],
  ["nordic", nordic],
])("with %s as the root registrar", (_name, registrar) => {
  let app: App;
  beforeAll(async () => {
    app = await serve({ rootRegistrar: registrar, metricsPort: 0 });
  });
  afterAll(() => app.close());
  const explained = async ({ method, path, body = {} }: Call) => {
    const url = (app.metricsUrl ?? "").replace(/\/metrics$/, "/api/offledger/v1/explain");
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ call: { operation: `${verbOf(method)} ${path}`, request: body } }),
    });
    const { operation, request, error } = (await response.json()) as Readonly<Record<string, unknown>>;
    return { operation, request, error };
  };

  test.each(callsOf(registrar))("%s is answered as under the long path", async (_call, call) => {
    const root = atRoot(call, registrar);
    expect(root.path).toMatch(/^\/registry\//);
    const long = await answerTo(app.url, call);
    expect(await answerTo(app.url, root)).toEqual(long);
  });

  test.each(callsOf(registrar))("%s is explained by its path", async (_call, call) => {
    const root = await explained(atRoot(call, registrar));
    expect(root.operation).toBe(nameOf(call.method));
    expect(root).toEqual(await explained(call));
  });

  test("a registrar in the body does not replace it", async () => {
    const [, call] = callsOf(registrar).find(([, { body }]) => body !== undefined) ?? [];
    if (call === undefined) throw new Error("no call has a body");
    const body = { ...(call.body as object), registrarParty: "other::1220" };
    expect(await answerTo(app.url, { ...atRoot(call, registrar), body })).toEqual(await answerTo(app.url, call));
  });
});

describe("as the long form", () => {
  const logged: string[] = [];
  let app: App;
  beforeAll(async () => {
    vi.spyOn(RequestLog.prototype, "isLogged").mockReturnValue(true);
    vi.spyOn(RequestLog.prototype, "write").mockImplementation(({ operation, protocol, outcome }) => {
      logged.push(`${operation} ${protocol} ${outcome}`);
    });
    app = await serve({ rootRegistrar: acme, metricsPort: 0, ratePerClient: 5 });
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await app.close();
  });
  const factory = "/registry/transfer-instruction/v1/transfer-factory";

  test("another method is 405, and HEAD is a GET without its body", async () => {
    const wrong = await fetch(app.url + factory);
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
    expect(Object.keys((await wrong.json()) as object)).toEqual(["error"]);
    const head = await fetch(`${app.url}/registry/metadata/v1/info`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test("the OpenAPI document names the registrar and the paths", async () => {
    const response = await fetch(`${app.url}/api/utilities/v0/openapi`);
    const { info } = (await response.json()) as { readonly info: { readonly description: string } };
    expect(info.description).toContain(`operations of ${acme} are also served at /registry/…`);
  });

  test("both forms count as one operation, in rates, log and metrics", async () => {
    const statuses: number[] = [];
    const paths = ["/registry/metadata/v1/instruments", `${registry(acme)}/metadata/v1/instruments`];
    for (let index = 0; index < 12; index++) statuses.push((await fetch(app.url + (paths[index % 2] ?? ""))).status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    expect(statuses.slice(0, 5)).toEqual([200, 200, 200, 200, 200]);
    const operation = "offledger.metadata.v1.MetadataService/ListInstruments";
    expect(logged.filter((line) => line === `${operation} rest 0`).length).toBe(
      statuses.filter((status) => status === 200).length,
    );
    const metrics = await (await fetch(app.metricsUrl ?? "")).text();
    expect(metrics).toMatch(new RegExp(`operation="${operation.replaceAll(".", "\\.")}"`));
  });
});

describe("without a root registrar", () => {
  let app: App;
  beforeAll(async () => {
    app = await serve({});
  });
  afterAll(() => app.close());

  test("nothing is served at the root", async () => {
    for (const [, call] of callsOf(acme)) {
      const { status, text } = await answerTo(app.url, atRoot(call, acme));
      expect(status).toBe(404);
      expect(JSON.parse(text)).toEqual({ error: expect.stringMatching(/^nothing is served at /) as string });
    }
  });
});
