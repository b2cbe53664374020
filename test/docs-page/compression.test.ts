/** The files of /docs, compressed. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { accepting } from "../fixtures/compressed-responses.js";
import { gunzipMember } from "../fixtures/gzip-member.js";
import { type RawRequest, type RawResponse, sendHttp1 } from "../fixtures/requests-in-forms.js";
import { type Running, serveFile } from "../fixtures/run-service.js";

let running: Running;
beforeAll(async () => {
  running = await serveFile(undefined);
});
afterAll(() => running.close());

const get = (path: string, headers: Record<string, string> = {}): RawRequest => ({ method: "GET", path, headers });
const send = (request: RawRequest) => sendHttp1(running.url, request);

const contentOf = ({ headers, body }: RawResponse): Buffer =>
  headers["content-encoding"] === "gzip" ? gunzipMember(body) : body;

test.each([
  "/docs/json",
  "/docs/yaml",
  "/docs/static/swagger-ui.css",
  "/docs/static/swagger-ui-bundle.js",
  "/docs/static/swagger-ui-standalone-preset.js",
])("%s is compressed for a client that asks, and has the same content", async (path) => {
  const plain = await send(get(path));
  expect(plain.headers).toMatchObject({ vary: "accept-encoding" });
  expect(plain.headers["content-encoding"]).toBeUndefined();
  // From the file, and from the cache.
  for (let time = 0; time < 3; time++) {
    const compressed = await send(accepting(get(path)));
    expect(compressed.headers).toMatchObject({
      "content-encoding": "gzip",
      "content-type": plain.headers["content-type"],
      "content-length": String(compressed.body.length),
      vary: "accept-encoding",
    });
    expect(compressed.headers["accept-ranges"]).toBeUndefined();
    expect(compressed.headers["etag"]).toBe(plain.headers["etag"]);
    expect(compressed.body.length).toBeLessThan(plain.body.length / 2);
    expect(gunzipMember(compressed.body).equals(plain.body)).toBe(true);
    expect((await send(get(path))).body.equals(plain.body)).toBe(true);
  }
});

test("a small file and an image that does not compress are sent as they are", async () => {
  for (const path of ["/docs/static/swagger-initializer.js", "/docs/static/favicon-32x32.png"]) {
    for (let time = 0; time < 2; time++) {
      const [plain, asked] = [await send(get(path)), await send(accepting(get(path)))];
      expect(contentOf(asked).equals(plain.body)).toBe(true);
      expect(asked.body.length).toBeLessThanOrEqual(plain.body.length);
    }
  }
});

test("an unchanged file, a missing one and a part of one are sent as before", async () => {
  const path = "/docs/static/swagger-ui.css";
  const { headers, body } = await send(get(path));
  const unchanged = await send(accepting(get(path, { "if-none-match": String(headers["etag"]) })));
  expect([unchanged.status, unchanged.body.length]).toEqual([304, 0]);
  const part = await send(accepting(get(path, { range: "bytes=0-99" })));
  expect(part).toMatchObject({ status: 206, body: body.subarray(0, 100) });
  expect(part.headers["content-encoding"]).toBeUndefined();
  const missing = await send(accepting(get("/docs/static/nothing.js")));
  expect(missing.status).toBe(404);
  expect(missing.headers["content-encoding"]).toBeUndefined();
});

test("the document of the API is sent in each encoding, and not again to a client that has it", async () => {
  const path = "/api/utilities/v0/openapi";
  const plain = await send(get(path));
  const compressed = await send(accepting(get(path)));
  expect(compressed.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
  expect(contentOf(compressed).equals(plain.body)).toBe(true);
  const etag = String(plain.headers["etag"]);
  expect(compressed.headers["etag"]).toBe(etag);
  expect(await send(get(path, { "if-none-match": etag }))).toMatchObject({ status: 304, headers: { etag } });
  expect((await send(get(path, { "if-none-match": '"another"' }))).status).toBe(200);
});

test("many names of a file do not fill the memory", async () => {
  const path = "/docs/static/swagger-ui.css";
  const { body } = await send(get(path));
  for (let count = 0; count < 50; count++) {
    const code = path.charCodeAt(path.length - 1 - (count % 10)).toString(16);
    const at = path.length - 1 - (count % 10);
    const name = `${path.slice(0, at)}%${code}${path.slice(at + 1)}?v=${count}`;
    const response = await send(accepting(get(name)));
    expect(contentOf(response).equals(body)).toBe(true);
  }
});

test("HEAD has the headers and no body", async () => {
  const response = await send({ ...accepting(get("/docs/static/swagger-ui.css")), method: "HEAD" });
  expect([response.status, response.body.length]).toEqual([200, 0]);
});
