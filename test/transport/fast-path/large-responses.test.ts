/**
 * Large answers stand in memory that is used again. Many are asked for at a time,
 * by callers who read as they like: each gets its own to the last byte, and nobody
 * gets a byte of another's.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Server } from "../../../src/transport/server.js";
import { type Asked, expectedOf, type Form } from "../../fixtures/large-responses.js";
import { clients, held, questions, serve, SOON_MS, wrongOf } from "../../fixtures/paced-clients.js";
import { within } from "../../fixtures/wait.js";

let server: Server;
let url: string;
beforeAll(async () => {
  ({ server, url } = await serve());
});
afterAll(() => server.close(100));

test("callers who read at once, slowly, late, or not to the end get their own", async () => {
  const [late, gone] = [await held(url, 3), await held(url, 2)];
  const slow = clients(url, 3, "slow", () => questions(8));
  for (let round = 0; round < 3; round++) {
    const fast = clients(url, 4, "fast", () => questions(5));
    const cut = clients(url, 2, "cut", () => questions(4));
    // For these a write is pending, which ends here.
    gone[round]?.cut();
    expect(await wrongOf([...fast, ...cut])).toEqual([]);
  }
  // Else nothing was shown of memory that is in use.
  expect(late.every(({ isPending }) => isPending)).toBe(true);
  for (const client of late) client.read();
  const others = clients(url, 4, "fast", () => questions(5));
  expect(await wrongOf([...late, ...gone, ...slow, ...others])).toEqual([]);
});

test("what a server cuts when its time to close is over is the beginning of it", async () => {
  const stopping = await serve();
  const late = await held(stopping.url, 2);
  const closed = stopping.server.close(50);
  const wrong = [await wrongOf(clients(url, 4, "fast", () => questions(5)))];
  await within(SOON_MS, "closed", closed);
  wrong.push(await wrongOf(clients(url, 4, "fast", () => questions(5))));
  for (const client of late) {
    client.read();
    wrong.push(await client.wrong(true));
  }
  expect(wrong.flat()).toEqual([]);
});

const KB = 1024;
const MB = 1024 * KB;
const sizes = [...[64 * KB, MB].flatMap((size) => [size - 1, size, size + 1]), 2 * MB];

test.each(["REST", "Connect binary"] as const)(
  "so do those whose answers are as large as the least memory that is lent, or the most that is kept, by %s",
  async (form) => {
    const sized = (): Asked[] => sizes.map((size) => asLargeAs(form, size));
    expect(sized().map((one) => expectedOf(one).length)).toEqual(sizes);
    const all = [...clients(url, 1, "slow", sized), ...clients(url, 2, "fast", sized)];
    expect(await wrongOf(all)).toEqual([]);
  },
);

let count = 10_000;

/** A request whose answer has so many bytes exactly. */
function asLargeAs(form: Form, size: number): Asked {
  const name = `sized-${count++}`;
  const asked = (length: number): Asked => ({ form, id: `${name}.${String(length).padStart(7, "0")}` });
  let length = 0;
  // Again, as the lengths that protobuf writes grow with what they are of.
  for (let turn = 0; turn < 3; turn++) length += size - expectedOf(asked(length)).length;
  return asked(length);
}
