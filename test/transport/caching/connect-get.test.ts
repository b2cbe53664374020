/** Connect by GET: caches of HTTP store its responses, so that none may be empty for one client only. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { party } from "../../../demo/element.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

const message = encodeURIComponent(JSON.stringify({ registrarParty: party("nordic-registrar") }));
const path = `/offledger.metadata.v1.MetadataService/ListInstruments?connect=v1&encoding=json&message=${message}`;
const get = (headers: Record<string, string> = {}) => fetch(running.url + path, { headers });

test("a response is complete also for a client that sends the condition of RPC", async () => {
  const first = await get();
  const etag = first.headers.get("etag") ?? "";
  const conditional = await get({ "offledger-if-none-match": etag });
  expect(conditional.status).toBe(200);
  expect(conditional.headers.has("offledger-not-modified")).toBe(false);
  expect(await conditional.json()).toEqual(await first.json());
});

test("the condition of HTTP is answered with 304", async () => {
  const etag = (await get()).headers.get("etag") ?? "";
  const conditional = await get({ "if-none-match": etag });
  expect([conditional.status, await conditional.text()]).toEqual([304, ""]);
});
