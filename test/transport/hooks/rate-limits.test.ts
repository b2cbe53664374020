/** Rate limits per client and operation and in total, and how clients are identified. */
import { setTimeout as pause } from "node:timers/promises";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { HealthService } from "../../../gen/offledger/health/v1/health_service_pb.js";
import type { Config } from "../../../src/config/config.js";
import { clientKey } from "../../../src/transport/hooks.js";
import { acme } from "../../fixtures/calls/build.js";
import { requestHttp1, type HttpResponse } from "../../fixtures/http-requests.js";
import { registry, serveFile } from "../../fixtures/run-service.js";

const LIMIT = 3;
const info = `${registry(acme)}/metadata/v1/info`;
const instruments = `${registry(acme)}/metadata/v1/instruments`;
const utility = "/api/utilities/v0/operator";

async function startService(config: Partial<Config>): Promise<string> {
  const running = await serveFile(undefined, { config });
  onTestFinished(() => running.close());
  return running.url;
}

/**
 * Runs requests within one window of the rate limit. Repeats them if they took
 * longer, for instance because the machine stalled. Each attempt starts with a new window.
 */
async function inOneWindow<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < 8; attempt++) {
    if (attempt > 0) await pause(1_100);
    const begun = performance.now();
    const result = await run();
    if (performance.now() - begun < 900) return result;
  }
  throw new Error("the requests did not fit into one window in 8 attempts");
}

async function sendAll(url: string, paths: readonly string[], from?: string): Promise<HttpResponse[]> {
  const responses: HttpResponse[] = [];
  for (const path of paths) {
    const headers = from === undefined ? {} : { "x-forwarded-for": from };
    responses.push(await requestHttp1(url, path, headers));
  }
  return responses;
}

const times = <T>(count: number, what: T): T[] => Array.from({ length: count }, () => what);
const statuses = (responses: readonly HttpResponse[]): (number | undefined)[] => responses.map(({ status }) => status);

describe("per client and operation", () => {
  test("the first request over the limit is rejected with Retry-After", async () => {
    const url = await startService({ ratePerClient: LIMIT });
    const responses = await inOneWindow(() => sendAll(url, [...times(LIMIT + 1, info), instruments]));
    expect(statuses(responses)).toEqual([...times(LIMIT, 200), 429, 200]);
    expect(responses[LIMIT]?.headers["retry-after"]).toBe("1");
    expect(responses[LIMIT]?.headers["content-type"]).toMatch(/^application\/json/);
    expect(JSON.parse(responses[LIMIT]?.body ?? "")).toEqual({
      error: `rate limit exceeded: ${LIMIT} requests per second per client and operation`,
    });
    // As Retry-After says.
    await pause(1_100);
    expect(statuses(await sendAll(url, [info]))).toEqual([200]);
  });

  test("health requests are never rejected, on any protocol", async () => {
    const url = await startService({ ratePerClient: 1, rateInAll: 1 });
    expect(statuses(await sendAll(url, times(10, "/livez")))).toEqual(times(10, 200));
    for (const transport of [
      createGrpcTransport({ baseUrl: url }),
      createConnectTransport({ baseUrl: url, httpVersion: "1.1" }),
    ]) {
      for (let round = 0; round < 5; round++) {
        await transport.unary(HealthService.method.getLiveness, undefined, undefined, undefined, {});
      }
    }
  });
});

describe("in total", () => {
  test("requests of all clients to all operations count together", async () => {
    const url = await startService({ rateInAll: LIMIT, trustedProxies: ["127.0.0.1"] });
    const responses = await inOneWindow(async () => [
      ...(await sendAll(url, [info, instruments], "192.0.2.1")),
      ...(await sendAll(url, [info, utility], "192.0.2.2")),
    ]);
    expect(statuses(responses)).toEqual([200, 200, 200, 429]);
    expect(responses[3]?.headers["retry-after"]).toBe("1");
    expect(responses[3]?.body).toContain(`rate limit exceeded: ${LIMIT} requests per second in total`);
  });

  test("requests over the client limit do not count in total", async () => {
    const url = await startService({ ratePerClient: 1, rateInAll: 2, trustedProxies: ["127.0.0.1"] });
    const responses = await inOneWindow(async () => [
      ...(await sendAll(url, times(10, info), "192.0.2.1")),
      ...(await sendAll(url, [info], "192.0.2.2")),
    ]);
    expect(statuses(responses)).toEqual([200, ...times(9, 429), 200]);
  });
});

/** Whether two requests with these values of X-Forwarded-For count as one client. */
async function areOneClient(
  config: Partial<Config>,
  first: string | undefined,
  second: string | undefined,
): Promise<boolean> {
  const url = await startService({ ratePerClient: 1, ...config });
  const responses = await inOneWindow(async () => [
    ...(await sendAll(url, [info], first)),
    ...(await sendAll(url, [info], second)),
  ]);
  expect(responses[0]?.status).toBe(200);
  return responses[1]?.status === 429;
}

describe("the client's address", () => {
  const behindProxy = { trustedProxies: ["127.0.0.1", "10.0.0.0/8", "2001:db8:ffff::/48"] };

  test.each([
    ["behind an untrusted proxy is the peer's", { trustedProxies: ["10.0.0.1"] }, "192.0.2.1", "192.0.2.2", true],
    ["behind a trusted proxy is the forwarded one", behindProxy, "192.0.2.1", "192.0.2.2", false],
    ["is the last one that is not a trusted proxy", behindProxy, "192.0.2.1, 10.1.2.3", "192.0.2.2, 10.1.2.3", false],
    [
      "is not spoofed by earlier entries",
      behindProxy,
      "1.1.1.1, 192.0.2.1, 10.1.2.3",
      "2.2.2.2, 192.0.2.1, 10.4.5.6",
      true,
    ],
    ["of IPv6 is identified by its network", behindProxy, "2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true],
    ["of IPv6 in another network is another client", behindProxy, "2001:db8:0:1::1", "2001:db8:0:2::1", false],
    ["that is malformed is one client", behindProxy, "unknown", "_hidden", true],
  ] as const)("%s", async (_what, config, first, second, isOne) => {
    expect(await areOneClient(config, first, second)).toBe(isOne);
  });
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["192.0.2.1:4711", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::ffff:c000:201", "192.0.2.1"],
  ["2001:db8:0:7::1", "2001:db8:0:7"],
  ["2001:0DB8:0000:0007:ffff:ffff:ffff:ffff", "2001:db8:0:7"],
  ["[2001:db8:0:7::1]:4711", "2001:db8:0:7"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  // No IPv4-mapped address.
  ["::192.0.2.1", "0:0:0:0"],
  ["1.2.3", "unknown"],
  ["::g", "unknown"],
  ["_hidden", "unknown"],
])("the address %s is the client %s", (address, client) => {
  expect(clientKey(address)).toBe(client);
});
