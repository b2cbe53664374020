/** HTTP/1.1 clients that send many requests without waiting for responses. */
import { describe, expect, test } from "vitest";
import { expectedBody } from "../../fixtures/large-responses.js";
import { until } from "../../fixtures/wait.js";
import { body, head, largeRequest, Served } from "./served.js";

const served = new Served({ requests: 10_000 });
const { budgets } = served;
const isUnused = () => served.isUnused();

describe("a client that pipelines", () => {
  const liveness = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";

  test("5,000 requests gets 5,000 responses in order, and another client gets its own before them", async () => {
    const { socket, text } = await served.connect();
    const requests = Array.from({ length: 5_000 }, (_, at) => `GET /livez?${at} HTTP/1.1\r\nHost: a\r\n\r\n`);
    socket.write(requests.join(""));
    await until("the first is answered", () => text().includes("HTTP/1.1 200"));
    expect(await served.status()).toBe(200);
    expect(text().split("HTTP/1.1 200").length - 1).toBeLessThan(5_000);
    await until("all are answered", () => text().split("HTTP/1.1 200").length - 1 === 5_000, 25_000);
    await until("nothing is held", isUnused);
  });

  test("and reads nothing has few requests handled, and the others keep their turn", async () => {
    const { socket } = await served.connect();
    const { length } = expectedBody(largeRequest);
    socket.pause();
    const post = head(body.length);
    socket.write(
      Buffer.concat(Array.from({ length: 100 }, () => Buffer.concat([Buffer.from(post), Buffer.from(body)]))),
    );
    await until("responses are held", () => budgets.responses.used > 0);
    for (let at = 0; at < 10; at++) expect(await served.status()).toBe(200);
    // The first, which waits in the socket, and eight behind it.
    expect(budgets.responses.used).toBeLessThanOrEqual(9 * length);
    socket.destroy();
    await until("nothing is held", isUnused);
  });

  test("a request whose body follows late", async () => {
    const { socket, text } = await served.connect();
    const post = head(body.length);
    socket.write(liveness.repeat(200) + post);
    await until("those before are answered", () => text().split("HTTP/1.1 200").length - 1 === 200);
    socket.write(body);
    await until("it is answered", () => text().split("HTTP/1.1 200").length - 1 === 201);
    expect(text()).not.toMatch(/HTTP\/1\.1 [345]/);
  });
});
