/**
 * Large answers stand in memory that is used again. Many are asked for at a time,
 * by callers who read as they like: each gets its own to the last byte, and nobody
 * gets a byte of another's.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createServer, type Server } from "../../src/wire/server.js";
import { type Asked, expectedOf, type Form, largeAnswers, requestFor, wrongBody } from "../fixtures/large-answers.js";
import { gate, until, within } from "../fixtures/waiting.js";

const KB = 1024;
const MB = 1024 * KB;
const SOON_MS = 8_000;

let server: Server;
let url: string;
beforeAll(async () => {
  subscribe("net.server.socket", remember);
  ({ server, url } = await serve());
});
afterAll(async () => {
  unsubscribe("net.server.socket", remember);
  await server.close(100);
});

describe("over HTTP/1.1", () => {
  test("callers who read at once, slowly, late, or not to the end get their own", async () => {
    const [late, gone] = [await held(3), await held(2)];
    const slow = clients(3, "slow", () => questions(8));
    for (let round = 0; round < 3; round++) {
      const fast = clients(4, "fast", () => questions(5));
      const cut = clients(2, "cut", () => questions(4));
      // Whoever cuts the connection while a write is pending leaves the memory of that to be used again, or not.
      gone[round]?.cut();
      expect(await wrongOf([...fast, ...cut])).toEqual([]);
    }
    expect(late.every(({ isPending }) => isPending)).toBe(true);
    for (const client of late) client.read();
    const others = clients(4, "fast", () => questions(5));
    expect(await wrongOf([...late, ...gone, ...slow, ...others])).toEqual([]);
  });

  test("what a server cuts when its time to close is over is the beginning of it", async () => {
    const stopping = await serve();
    const late = await held(2, stopping.url);
    const closed = stopping.server.close(50);
    const wrong = [await wrongOf(clients(4, "fast", () => questions(5)))];
    await within(SOON_MS, "closed", closed);
    wrong.push(await wrongOf(clients(4, "fast", () => questions(5))));
    for (const client of late) {
      client.read();
      wrong.push(await client.wrong(true));
    }
    expect(wrong.flat()).toEqual([]);
  });

  test.each(["REST", "Connect binary"] as const)(
    "as large as where memory begins or ends to be lent, by %s",
    async (form) => {
      const sizes = [...[64 * KB, MB].flatMap((size) => [size - 1, size, size + 1]), 2 * MB];
      const sized = (): Asked[] => sizes.map((size) => asLargeAs(form, size));
      expect(sized().map((one) => expectedOf(one).length)).toEqual(sizes);
      const all = [...clients(1, "slow", sized), ...clients(2, "fast", sized)];
      expect(await wrongOf(all)).toEqual([]);
    },
  );
});

/** A request whose answer has so many bytes exactly. */
function asLargeAs(form: Form, size: number): Asked {
  const name = `sized-${10_000 + count++}`;
  const asked = (length: number): Asked => ({ form, id: `${name}.${String(length).padStart(7, "0")}` });
  let length = 0;
  // Again, as the lengths that protobuf writes grow with what they are of.
  for (let turn = 0; turn < 3; turn++) length += size - expectedOf(asked(length)).length;
  return asked(length);
}
