/** What the surface promises of all operations, on the demo registry: what clients may send, what responses hold. */
import { request as requestHttp, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { successfulCalls } from "../fixtures/calls/index.js";
import { type Call, protocols, verbOf } from "../fixtures/protocols.js";
import { type Running, serveFile } from "../fixtures/run-service.js";

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

const all = Object.entries(successfulCalls);
const gets = all.filter(([, { method }]) => verbOf(method) === "GET");
const choices = all.filter(([, { path }]) => path.includes("/choice-contexts/"));
const withBody = all.filter(([, { body }]) => body !== undefined);
const isUtility = ({ path }: Call): boolean => path.startsWith("/api/utilities/");

interface Sent {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

interface Received {
  readonly status: number | undefined;
  readonly body: JsonValue;
}

/** Uses node:http because fetch sends no body with GET, and normalises paths. */
async function send({ method, path, body }: Call, sent: Sent = {}): Promise<Received> {
  const { hostname, port } = new URL(running.url);
  const payload = "body" in sent ? sent.body : body === undefined ? undefined : JSON.stringify(body);
  const length = payload === undefined ? {} : { "content-length": String(Buffer.byteLength(payload)) };
  const type = payload === undefined || payload === "" ? {} : { "content-type": "application/json" };
  const headers = { ...length, ...type, ...sent.headers };
  const request = requestHttp({ hostname, port, method: verbOf(method), path: sent.path ?? path, headers });
  request.end(payload);
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    request.once("response", resolve).once("error", reject),
  );
  return { status: response.statusCode, body: JSON.parse(await text(response)) as JsonValue };
}

async function plain(call: Call): Promise<Received> {
  const received = await send(call);
  expect(received.status).toBe(200);
  return received;
}

describe.each(all)("%s", (_name, call) => {
  test("may have slashes at the end of its path and of the base URL", async () => {
    const expected = await plain(call);
    const slashed = [
      call.path.replace(/(?=\?|$)/, "/"),
      `/${call.path}`,
      call.path.replace("/registry/", "//registry/").replace("/v0/", "/v0//"),
    ];
    for (const url of slashed) expect({ url, ...(await send(call, { path: url })) }).toEqual({ url, ...expected });
  });

  test("may have a token that nothing needs, and any Accept", async () => {
    const expected = await plain(call);
    for (const headers of [{ authorization: "Bearer not.a.token" }, { accept: "*/*" }, { accept: "text/html" }]) {
      expect({ headers, ...(await send(call, { headers })) }).toEqual({ headers, ...expected });
    }
  });
});

describe.each(gets)("%s", (_name, call) => {
  test("may have the content type of JSON, with no body, an empty one or an object", async () => {
    const expected = await plain(call);
    const headers = { "content-type": "application/json" };
    for (const body of [undefined, "", "{}"]) {
      expect({ sent: body, ...(await send(call, { headers, body })) }).toEqual({ sent: body, ...expected });
    }
  });
});

describe.each(choices)("%s", (_name, call) => {
  test.each([
    undefined,
    "",
    "{}",
    '{"meta":{}}',
    '{"meta":{"values":{}}}',
    '{"meta":{"values":""}}',
    '{"meta":{"values":{"splice.lfdecentralizedtrust.org/reason":"late"}}}',
    '{"meta":null}',
    '{"excludeDebugFields":false}',
    '{"unknown":{"deep":[1,null]},"excludeDebugField":true}',
  ])("answers a body of %s like any other", async (body) => {
    expect(await send(call, { body })).toEqual(await plain(call));
  });

  test("accepts excludeDebugFields", async () => {
    const [withDebug, without] = [await plain(call), await send(call, { body: '{"excludeDebugFields":true}' })];
    expect(without).toEqual(isUtility(call) ? withDebug : { status: 200, body: withoutDebugFields(withDebug.body) });
  });
});

describe.each(withBody)("%s", (_name, call) => {
  test("ignores unknown fields, and leaves debug fields out on request", async () => {
    const expected = await plain(call);
    const body = call.body as JsonObject;
    const more = JSON.stringify({ ...body, unknown: { deep: [1, null] } });
    expect(await send(call, { body: more })).toEqual(expected);
    const excluding = await send(call, { body: JSON.stringify({ ...body, excludeDebugFields: true }) });
    expect(excluding).toEqual(isUtility(call) ? expected : { status: 200, body: withoutDebugFields(expected.body) });
  });
});

/** A copy without any field whose name starts with `debug`. */
function withoutDebugFields(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutDebugFields);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !name.startsWith("debug"));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutDebugFields(inner)]));
}

/** Every object in a value, with its path. The ledger's own values, in debugPayload, are left out. */
function* objectsIn(value: JsonValue, at = ""): Generator<readonly [path: string, object: JsonObject]> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* objectsIn(item, `${at}[${index}]`);
  } else if (typeof value === "object" && value !== null) {
    yield [at, value];
    for (const [name, inner] of Object.entries(value)) {
      if (name !== "debugPayload") yield* objectsIn(inner, `${at}.${name}`);
    }
  }
}

describe.each(all.filter(([name]) => name !== "the OpenAPI document"))("the response to %s", (_name, call) => {
  let body: JsonValue;
  beforeAll(async () => {
    ({ body } = await plain(call));
  });

  test("has no null", () => {
    const nulls = [...objectsIn(body)].flatMap(([at, fields]) =>
      Object.entries(fields).flatMap(([name, value]) => (value === null ? [`${at}.${name}`] : [])),
    );
    expect(nulls).toEqual([]);
  });

  test("names the synchronizer of every contract, and its alias on variant B only", () => {
    const contracts = [...objectsIn(body)].map(([, fields]) => fields).filter((fields) => "templateId" in fields);
    const synchronizers = contracts.map(({ synchronizerId }) => synchronizerId);
    expect(synchronizers).toEqual(contracts.map(() => expect.stringMatching(/./) as unknown));
    const aliases = contracts.map(({ domainId }) => domainId);
    expect(aliases).toEqual(isUtility(call) ? synchronizers : contracts.map(() => undefined));
  });

  test("has the values of every context, also of an empty one", () => {
    const contexts = [...objectsIn(body)].flatMap(([, fields]) => fields["choiceContextData"] ?? []);
    expect(contexts).toEqual(contexts.map(() => ({ values: expect.any(Object) as unknown })));
  });
});

describe("an empty context", () => {
  const cancels = choices.filter(([, { path }]) => /offer\/[^/]*\/choice-contexts\/cancel$/.test(path));

  test("is that of cancelling an offer to mint or burn", () => {
    expect(cancels.map(([, { path }]) => path.replace(/[\da-f]{138}/, "{id}")).toSorted()).toEqual([
      "/api/utilities/v0/registry/burn/v0/offer/{id}/choice-contexts/cancel",
      "/api/utilities/v0/registry/mint/v0/offer/{id}/choice-contexts/cancel",
    ]);
  });

  test.each(cancels)('has "values" with no names over every protocol: %s', async (_name, call) => {
    for (const [protocol, callOver] of Object.entries(protocols)) {
      const outcome = await callOver(running.url, call);
      expect({ protocol, outcome }).toMatchObject({ protocol, outcome: { ok: true } });
      const { choiceContextData } = outcome.ok ? (outcome.answer as JsonObject) : {};
      expect({ protocol, choiceContextData }).toEqual({ protocol, choiceContextData: { values: {} } });
    }
  });
});
