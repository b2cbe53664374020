/** What deployed clients send and the service tolerates. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.js";
import { burnAccept, burnCancel, cancel, reject, transferFactory, transferV1, withdraw } from "../fixtures/requests.js";
import { disclosedBy } from "../fixtures/context.js";
import { element, parties, payload } from "../fixtures/elements.js";
import { registryOf } from "../fixtures/registries.js";
import { registry, type Running, serve } from "../fixtures/run-service.js";

/** Contract ids as long as a ledger's, 138 hexadecimal characters, and longer. */
const long = "00".concat("c7".repeat(68));
const longer = "00".concat("c8".repeat(300));
const locked = "00".concat("c9".repeat(68));

let running: Running;
beforeAll(async () => {
  running = await serve(
    registryOf(
      {},
      ...[long, longer].flatMap((id) => [
        element("TransferOffer", `${id}01`, payload.offer("alice", "bob", "USD", locked)),
        element("DvpLegAllocation", `${id}02`, payload.allocation("alice", "bob", "USD", locked)),
        element("BurnRequest", `${id}03`, payload.burn("alice", "USD", { lockedHoldingCid: locked })),
        element("BurnOffer", `${id}04`, payload.burn("alice", "USD")),
      ]),
      element("Holding", locked, payload.lockedHolding("alice", "USD")),
    ),
  );
});
afterAll(() => running.close());

const paths = (id: string): [string, string][] => [
  ["rejecting a transfer", reject(`${id}01`)],
  ["cancelling an allocation", cancel(`${id}02`)],
  ["withdrawing an allocation", withdraw(`${id}02`)],
  ["accepting a burn request", burnAccept(`${id}03`)],
  ["cancelling a burn offer", burnCancel(`${id}04`)],
];

describe.each(paths(long))("for %s", (_, path) => {
  const send = async (init: RequestInit): Promise<unknown> => {
    const response = await fetch(running.url + path, { method: "POST", ...init });
    return { status: response.status, body: await response.json() };
  };
  const json = { "content-type": "application/json" };

  test("no body is required, with and without a content type", async () => {
    const plain = await send({});
    expect(plain).toMatchObject({ status: 200, body: { choiceContextData: { values: {} } } });
    expect(await send({ headers: json })).toEqual(plain);
    expect(await send({ headers: json, body: "" })).toEqual(plain);
  });

  test.each<[string]>([
    ["{}"],
    ['{"meta":{}}'],
    ['{"meta":{"values":{}}}'],
    ['{"meta":{"values":""}}'],
    ['{"meta":{"values":{"splice.lfdecentralizedtrust.org/reason":"late"}}}'],
    ['{"excludeDebugFields":false}'],
    ['{"meta":{},"unknown":{"deep":[1,null]},"excludeDebugField":"misspelt"}'],
  ])("a body of %s changes nothing", async (body) => {
    expect(await send({ headers: json, body })).toEqual(await send({}));
  });

  test('a body of {"excludeDebugFields":true} is taken', async () => {
    expect(await send({ headers: json, body: '{"excludeDebugFields":true}' })).toMatchObject({ status: 200 });
  });

  test("an Authorization header changes nothing, whatever its value", async () => {
    const plain = await send({});
    expect(await send({ headers: { authorization: "Bearer not.a.token" } })).toEqual(plain);
    expect(await send({ headers: { authorization: "Basic !" } })).toEqual(plain);
  });
});

test.each(paths(longer))("a contract id of more than 600 characters works for %s", async (_, path) => {
  expect(await running.post(path, {})).toMatchObject({ status: 200 });
});

describe("the registrar of the path", () => {
  const forms = {
    "as it is": parties.registrar,
    "with its colons encoded": "registrar%3A%3A1220",
    "with its colons encoded in small letters": "registrar%3a%3a1220",
    "with one colon encoded": "registrar:%3A1220",
    "encoded throughout": "%72%65%67%69%73%74%72%61%72%3A%3A%31%32%32%30",
  };
  test.each(Object.entries(forms))("may stand %s", async (_, registrar) => {
    const base = registry().replace("registrar%3A%3A1220", registrar);
    expect(base).toContain(registrar);
    const factory = await running.post(`${base}/transfer-instruction/v1/transfer-factory`, transferV1("alice", "bob"));
    expect(factory.body).toMatchObject({ factoryId: "factory", transferKind: "offer" });
    const rejection = await running.post(`${base}/transfer-instruction/v2/${long}01/choice-contexts/reject`);
    expect(disclosedBy(rejection)).toHaveLength(1);
  });
});

describe("a base URL with a slash at its end", () => {
  test.each([
    ["of the host", (path: string) => `/${path}`],
    ["of the registrar", (path: string) => path.replace("/registry/", "//registry/")],
  ])("works: that %s", async (_, slashed) => {
    const body = transferV1("alice", "bob");
    expect((await running.post(slashed(transferFactory()), body)).body).toMatchObject({ factoryId: "factory" });
    expect((await running.post(slashed(reject(`${long}01`)))).status).toBe(200);
  });
});

test("unknown fields of a request are ignored, wherever they stand", async () => {
  const body = transferV1("alice", "bob", { unknown: 1, sendr: "misspelt" });
  const more: JsonObject = {
    ...body,
    unknown: [null],
    choiceArguments: { ...(body["choiceArguments"] as JsonObject), unknown: { deep: {} } },
  };
  const [plain, withMore] = await Promise.all([
    running.post(transferFactory(), transferV1("alice", "bob")),
    running.post(transferFactory(), more),
  ]);
  expect(plain.status).toBe(200);
  expect(withMore.body).toEqual(plain.body);
});
