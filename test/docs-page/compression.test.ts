/** The files of /docs and the document of the API, compressed. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { gunzipMember } from "../fixtures/gzip-member.js";
import { accepting, type RawRequest, sendHttp1 } from "../fixtures/requests-in-forms.js";
import { type Running, serveFile } from "../fixtures/run-service.js";

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

const get = (path: string): RawRequest => ({ method: "GET", path, headers: {} });
const send = (request: RawRequest) => sendHttp1(running.url, request);

test.each([
  "/docs/json",
  "/docs/static/swagger-ui.css",
  "/docs/static/swagger-ui-bundle.js",
  "/api/utilities/v0/openapi",
])("%s is compressed for a client that asks, and has the same content", async (path) => {
  const plain = await send(get(path));
  expect(plain.headers["content-encoding"]).toBeUndefined();
  const compressed = await send(accepting(get(path)));
  expect(compressed.headers).toMatchObject({
    "content-encoding": "gzip",
    "content-type": plain.headers["content-type"],
    vary: "accept-encoding",
  });
  expect(compressed.body.length).toBeLessThan(plain.body.length / 2);
  expect(gunzipMember(compressed.body).equals(plain.body)).toBe(true);
});
