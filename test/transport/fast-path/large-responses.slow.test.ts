/**
 * Large responses are written to pooled buffers. Many clients request them at the
 * same time and read at different paces: each gets exactly its own bytes.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Server } from "../../../src/transport/server.js";
import { type LargeRequest, expectedBody, type Form } from "../../fixtures/large-responses.js";
import {
  startClients,
  startUnreadClients,
  createRequests,
  serve,
  WAIT_MS,
  collectErrors,
} from "../../fixtures/paced-clients.js";
import { within } from "../../fixtures/wait.js";

let server: Server;
let url: string;
beforeAll(async () => {
  ({ server, url } = await serve());
});
afterAll(() => server.close(100));

test("clients that read at once, slowly, late, or reset midway get their own bytes", async () => {
  const [late, gone] = [await startUnreadClients(url, 3), await startUnreadClients(url, 2)];
  const slow = startClients(url, 3, "slow", () => createRequests(8));
  for (let round = 0; round < 3; round++) {
    const fast = startClients(url, 4, "fast", () => createRequests(5));
    const cut = startClients(url, 2, "reset", () => createRequests(4));
    // These have a pending write, which fails here.
    gone[round]?.reset();
    expect(await collectErrors([...fast, ...cut])).toEqual([]);
  }
  // Buffers were in use all the time: otherwise the test shows nothing.
  expect(late.every(({ isPending }) => isPending)).toBe(true);
  for (const client of late) client.read();
  const others = startClients(url, 4, "fast", () => createRequests(5));
  expect(await collectErrors([...late, ...gone, ...slow, ...others])).toEqual([]);
});

test("a response that is truncated by a server shutdown is a prefix of the right one", async () => {
  const stopping = await serve();
  const late = await startUnreadClients(stopping.url, 2);
  const closed = stopping.server.close(50);
  const wrong = [await collectErrors(startClients(url, 4, "fast", () => createRequests(5)))];
  await within(WAIT_MS, "the server closes", closed);
  wrong.push(await collectErrors(startClients(url, 4, "fast", () => createRequests(5))));
  for (const client of late) {
    client.read();
    wrong.push(await client.collectErrors(true));
  }
  expect(wrong.flat()).toEqual([]);
});

const KB = 1024;
const MB = 1024 * KB;
const sizes = [...[64 * KB, MB].flatMap((size) => [size - 1, size, size + 1]), 2 * MB];

test.each(["REST", "Connect binary"] as const)(
  "responses around the smallest and the largest pooled size are right over %s",
  async (form) => {
    const sized = (): LargeRequest[] => sizes.map((size) => createSized(form, size));
    expect(sized().map((one) => expectedBody(one).length)).toEqual(sizes);
    const all = [...startClients(url, 1, "slow", sized), ...startClients(url, 2, "fast", sized)];
    expect(await collectErrors(all)).toEqual([]);
  },
);

let count = 10_000;

/** Creates a request whose response body has exactly `size` bytes. */
function createSized(form: Form, size: number): LargeRequest {
  const name = `sized-${count++}`;
  const request = (length: number): LargeRequest => ({ form, id: `${name}.${String(length).padStart(7, "0")}` });
  let length = 0;
  // Three rounds: the length prefixes of protobuf grow with the text.
  for (let round = 0; round < 3; round++) length += size - expectedBody(request(length)).length;
  return request(length);
}
