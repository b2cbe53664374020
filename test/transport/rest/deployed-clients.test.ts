/** What deployed clients send: each line of that section of the specification page "The surface". */
import http from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, startApp } from "../../../src/app/app.js";
import { acme } from "../../fixtures/calls/build.js";
import { successfulCalls } from "../../fixtures/calls/index.js";
import { type Call, verbOf } from "../../fixtures/protocols.js";
import { quiet } from "../../fixtures/run-service.js";

let app: App;
beforeAll(async () => {
  app = await startApp({ ...quiet(), rootRegistrar: acme }, () => Date.parse("2026-06-01T00:00:00Z"));
});
afterAll(() => app.close());

interface Sent {
  readonly path?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string | undefined;
}

/** Sends a path as it is: fetch would normalise it. */
async function send(call: Call, { path = call.path, headers = {}, body }: Sent) {
  const { hostname, port } = new URL(app.url);
  return new Promise<{ status: number | undefined; text: string; headers: http.IncomingHttpHeaders }>(
    (resolve, reject) => {
      const request = http.request({ hostname, port, path, method: verbOf(call.method), headers }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (text += chunk)).on("error", reject);
        response.on("end", () => resolve({ status: response.statusCode, text, headers: response.headers }));
      });
      request.on("error", reject).end(body);
    },
  );
}

const json = { "content-type": "application/json" };
const expected = (call: Call) =>
  send(call, {
    headers: call.body === undefined ? {} : json,
    body: call.body === undefined ? undefined : JSON.stringify(call.body),
  });

const restCalls = Object.entries(successfulCalls).filter(([, { path }]) => path.startsWith("/api/"));
const choices = restCalls.filter(([, { path }]) => path.includes("/choice-contexts/"));
const ofRegistrar = restCalls.filter(([, { path }]) => path.includes("/registrars/"));
const gets = restCalls.filter(([, { method }]) => verbOf(method) === "GET");
const posts = restCalls.filter(([, { body }]) => body !== undefined);

const withoutDebug = (text: string): unknown =>
  JSON.parse(text, (key, value: unknown) => (key.startsWith("debug") ? undefined : value));

describe.each(choices)("%s", (_name, call) => {
  test.each<[string, string | undefined]>([
    ["no body", undefined],
    ["an empty body", ""],
    ["blanks", " \n"],
    ["an object", "{}"],
    ["an empty meta", '{"meta":{}}'],
    ["empty values", '{"meta":{"values":{}}}'],
    ["values of another type", '{"meta":{"values":""}}'],
    ["values", '{"meta":{"values":{"a":"b","c":null,"d":1}},"excludeDebugFields":false}'],
    ["null", '{"meta":null,"excludeDebugFields":null}'],
    ["unknown fields", '{"meta":{},"context":{"a":[{}]},"choice":1,"registrarParty":7,"typed":{"x":null}}'],
  ])("%s", async (_what, body) => {
    const { status, text } = await expected(call);
    expect(status).toBe(200);
    expect(await send(call, { headers: json, body })).toMatchObject({ status, text });
  });

  test.each<[string, Sent]>([
    ["nothing", {}],
    ["an empty body", { body: "" }],
    ["a length of 0", { headers: { "content-length": 0 } }],
    ["an empty body of another type", { headers: { "content-type": "text/plain" }, body: "" }],
  ])("%s, without a content type of JSON", async (_what, sent) => {
    const { status, text } = await expected(call);
    expect(await send(call, sent)).toMatchObject({ status, text });
  });

  test("excludeDebugFields", async () => {
    const plain = await send(call, { headers: json, body: '{"excludeDebugFields":true}' });
    expect(plain.status).toBe(200);
    expect(plain.text).not.toContain('"debug');
    // The utility operations have no such fields.
    expect(JSON.parse(plain.text)).toEqual(withoutDebug((await expected(call)).text));
  });

  test("a contract id of any length reaches the operation", async () => {
    const id = `00${"ab".repeat(400)}`;
    const path = call.path.replace(/[\da-f]{138}(?=\/choice-contexts)/, id);
    expect(path).not.toBe(call.path);
    const { status, text } = await send(call, { path, headers: json, body: "{}" });
    expect(status).toBe(404);
    expect(text).toContain(id);
  });
});

describe.each(ofRegistrar)("%s", (_name, call) => {
  test("the party escaped or not, and slashes of base URLs", async () => {
    const { status, text } = await expected(call);
    const [, base = "", party = "", rest = ""] = /^(.*\/registrars\/)([^/]+)\/(registry\/.*)$/.exec(call.path) ?? [];
    const [path = "", query] = rest.split("?");
    const suffix = query === undefined ? "" : `?${query}`;
    const paths = [
      `${base}${decodeURIComponent(party)}/${rest}`,
      `${base}${party.replaceAll("%3A", "%3a")}/${rest}`,
      `${base}${party}//${rest}`,
      `/${base}${party}/${rest}`,
      `${base}${party}/${path}/${suffix}`,
      ...(decodeURIComponent(party) === acme ? [`/${rest}`, `//${rest}`, `/${path}/${suffix}`] : []),
    ];
    for (const one of paths) {
      const body = call.body === undefined ? undefined : JSON.stringify(call.body);
      const answer = await send(call, { path: one, headers: body === undefined ? {} : json, body });
      expect([one, answer.status, answer.text]).toEqual([one, status, text]);
    }
  });
});

describe.each(gets)("%s", (_name, call) => {
  test.each<[string, http.OutgoingHttpHeaders]>([
    ["a content type", json],
    ["a content type and a length", { ...json, "content-length": 0 }],
    ["a content type with a charset", { "content-type": "application/json; charset=utf-8" }],
    ["another content type", { "content-type": "text/plain" }],
    ["a token that nobody asked for", { authorization: "Bearer eyJhbGciOiJub25lIn0.e30." }],
    ["an accepted type", { accept: "application/json, text/plain, */*" }],
  ])("%s", async (_what, headers) => {
    const { status, text } = await expected(call);
    expect(await send(call, { headers })).toMatchObject({ status, text });
  });
});

describe.each(posts)("%s", (_name, call) => {
  test("unknown fields and a token change nothing", async () => {
    const { status, text } = await expected(call);
    const body = JSON.stringify({ ...(call.body as object), unknown: { a: [1, { b: null }] }, Extra: "é" });
    const headers = { ...json, authorization: "Bearer abc" };
    expect(await send(call, { headers, body })).toMatchObject({ status, text });
  });
});
