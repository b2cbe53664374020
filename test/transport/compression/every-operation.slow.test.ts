/** Every operation in every form of every protocol, compressed. */
import http2 from "node:http2";
import { afterAll, beforeAll, expect, test } from "vitest";
import { successfulCalls } from "../../fixtures/calls/index.js";
import { compareResponses } from "../../fixtures/compressed-responses.js";
import { requestForms, sendHttp1, sendHttp2 } from "../../fixtures/requests-in-forms.js";
import { type Running, serveFile } from "../../fixtures/run-service.js";

let running: Running;
let session: http2.ClientHttp2Session;
beforeAll(async () => {
  running = await serveFile(undefined);
  session = http2.connect(running.url);
});
afterAll(async () => {
  session.close();
  await running.close();
});

test.each(Object.keys(requestForms).flatMap((form) => [1, 2].map((version) => [form, version] as const)))(
  "%s over HTTP/%d",
  async (form, version) => {
    let compressed = 0;
    for (const call of Object.values(successfulCalls)) {
      const isLong = await compareResponses(form, call, (request) =>
        version === 1 ? sendHttp1(running.url, request) : sendHttp2(session, request),
      );
      if (isLong) compressed++;
    }
    expect(compressed).toBeGreaterThan(20);
  },
);
