/**
 * What deployed clients send: each line of that section of the specification page "The surface"; and the operations of one
 * registrar at the root, `/registry/…`, each of which answers as the long form does.
 */
import http from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, startApp } from "../../../src/app/app.js";
import { acme } from "../../fixtures/calls/build.js";
import { calls, successfulCalls } from "../../fixtures/calls/index.js";
import { sendHttp1 } from "../../fixtures/http-requests.js";
import { type Call, verbOf } from "../../fixtures/protocols.js";
import { quiet, registry } from "../../fixtures/run-service.js";
import { nameOf } from "../../fixtures/services.js";

let app: App;

beforeAll(async () => {
  const now = () => Date.parse("2026-06-01T00:00:00Z");
  app = await startApp({ ...quiet(), rootRegistrar: acme, metricsPort: { host: "127.0.0.1", port: 0 } }, now);
});
afterAll(() => app.close());

interface Sent {
  readonly path?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string | undefined;
}
const json = { "content-type": "application/json" };

/** Sends a path as it is: fetch would normalise it. */
async function send(call: Call, { path = call.path, headers = {}, body }: Sent) {
  const sent = { method: verbOf(call.method), path, headers, body: body === undefined ? body : Buffer.from(body) };
  const response = await sendHttp1(app.url, sent);
  return { status: response.status, text: response.body.toString(), headers: response.headers };
}
const plainly = (call: Call) =>
  send(call, call.body === undefined ? {} : { headers: json, body: JSON.stringify(call.body) });

const restCalls = Object.entries(successfulCalls).filter(([, { path }]) => path.startsWith("/api/"));
const choices = restCalls.filter(([, { path }]) => path.includes("/choice-contexts/"));

const withoutDebug = (text: string): unknown =>
  JSON.parse(text, (key, value: unknown) => (key.startsWith("debug") ? undefined : value));

test.each(choices)("the body of %s", async (_name, call) => {
  const { status, text } = await plainly(call);
  expect(status).toBe(200);
  const values = '{"meta":{"values":{"a":"b","c":null,"d":1}},"excludeDebugFields":false}';
  const unknown = '{"meta":{},"context":{"a":[{}]},"choice":1,"registrarParty":7,"typed":{"x":null}}';
  const bodies = [
    undefined,
    "",
    " \n",
    "{}",
    '{"meta":{}}',
    '{"meta":{"values":{}}}',
    '{"meta":{"values":""}}',
    values,
  ];
  for (const body of [...bodies, '{"meta":null,"excludeDebugFields":null}', unknown])
    expect({ body, ...(await send(call, { headers: json, body })) }).toMatchObject({ body, status, text });
  for (const sent of [
    {},
    { body: "" },
    { headers: { "content-length": 0 } },
    { headers: { "content-type": "text/plain" } },
  ])
    expect({ sent, ...(await send(call, sent)) }).toMatchObject({ sent, status, text });

  const short = await send(call, { headers: json, body: '{"excludeDebugFields":true}' });
  expect(short.text).not.toContain('"debug');
  // The utility operations have no such fields.
  expect(JSON.parse(short.text)).toEqual(withoutDebug(text));
  // A contract id of any length reaches the operation.
  const id = `00${"ab".repeat(400)}`;
  const path = call.path.replace(/[\da-f]{138}(?=\/choice-contexts)/, id);
  const missing = await send(call, { path, headers: json, body: "{}" });
  expect([missing.status, missing.text.includes(id)]).toEqual([404, true]);
});

const gets = restCalls.filter(([, { method }]) => verbOf(method) === "GET");
test.each(gets)("the headers of %s", async (_name, call) => {
  const { status, text } = await plainly(call);
  for (const headers of [
    json,
    { ...json, "content-length": 0 },
    { "content-type": "application/json; charset=utf-8" },
    { "content-type": "text/plain" },
    // A token that nobody asked for.
    { authorization: "Bearer eyJhbGciOiJub25lIn0.e30." },
    { accept: "application/json, text/plain, */*" },
  ])
    expect(await send(call, { headers })).toMatchObject({ status, text });
});

test.each(restCalls.filter(([, { body }]) => body !== undefined))("unknown fields and a token: %s", async (_, call) => {
  const { status, text } = await plainly(call);
  const body = JSON.stringify({ ...(call.body as object), unknown: { a: [1, { b: null }] }, Extra: "é" });
  expect(await send(call, { headers: { ...json, authorization: "Bearer abc" }, body })).toMatchObject({ status, text });
});

/** Every call about a registrar. */
const ofRegistrar = Object.entries(calls).filter(([, { path }]) => path.includes("/registrars/"));
const ofRoot = (registrar: string) => ofRegistrar.filter(([, { path }]) => path.startsWith(`${registry(registrar)}/`));
const atRoot = (call: Call, registrar: string): Call => ({
  ...call,
  path: call.path.replace(registry(registrar), "/registry"),
});

test.each(ofRegistrar)("the party escaped or not, slashes of base URLs, and the root: %s", async (_name, call) => {
  const { status, text } = await plainly(call);
  const [, base = "", party = "", rest = ""] = /^(.*\/registrars\/)([^/]+)\/(registry\/.*)$/.exec(call.path) ?? [];
  const [path = "", query] = rest.split("?");
  const suffix = query === undefined ? "" : `?${query}`;
  for (const one of [
    `${base}${decodeURIComponent(party)}/${rest}`,
    `${base}${party.replaceAll("%3A", "%3a")}/${rest}`,
    `${base}${party}//${rest}`,
    `/${base}${party}/${rest}`,
    `${base}${party}/${path}/${suffix}`,
    ...(decodeURIComponent(party) === acme ? [`/${rest}`, `//${rest}`, `/${path}/${suffix}`] : []),
  ]) {
    const answer = await plainly({ ...call, path: one });
    expect([one, answer.status, answer.text]).toEqual([one, status, text]);
  }
});

const explained = async ({ method, path, body = {} }: Call) => {
  const response = await fetch((app.metricsUrl ?? "").replace(/\/metrics$/, "/api/offledger/v1/explain"), {
    method: "POST",
    headers: json,
    body: JSON.stringify({ call: { operation: `${verbOf(method)} ${path}`, request: body } }),
  });
  const { operation, request, error } = (await response.json()) as Readonly<Record<string, unknown>>;
  return { operation, request, error };
};

describe("at the root", () => {
  test.each(ofRoot(acme))("%s is explained by its path", async (_name, call) => {
    const root = await explained(atRoot(call, acme));
    expect(root.operation).toBe(nameOf(call.method));
    expect(root).toEqual(await explained(call));
  });

  test("a registrar in the body does not replace the one of the root", async () => {
    const [, call] = ofRoot(acme).find(([, { body }]) => body !== undefined) ?? [];
    if (call === undefined) throw new Error("no call has a body");
    const body = { ...(call.body as object), registrarParty: "other::1220" };
    expect((await plainly({ ...atRoot(call, acme), body })).text).toBe((await plainly(call)).text);
  });

  test("another method is 405, HEAD is a GET without its body, and the OpenAPI document names the registrar", async () => {
    const wrong = await fetch(`${app.url}/registry/transfer-instruction/v1/transfer-factory`);
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
    const head = await fetch(`${app.url}/registry/metadata/v1/info`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const { info } = (await (await fetch(`${app.url}/api/utilities/v0/openapi`)).json()) as {
      readonly info: { readonly description: string };
    };
    expect(info.description).toContain(`operations of ${acme} are also served at /registry/…`);
  });
});
