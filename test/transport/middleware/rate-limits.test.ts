/** Requests a second, for each client and operation and over all, and who counts as a client. */
import { setTimeout as pause } from "node:timers/promises";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { MetadataService } from "../../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { HealthService } from "../../../gen/offledger/health/v1/health_service_pb.js";
import type { Config } from "../../../src/config/config.js";
import { acme } from "../../fixtures/calls/making.js";
import { askHttp1, type Told } from "../../fixtures/plain-requests.js";
import { registry, serveFile } from "../../fixtures/run-service.js";

const MOST = 3;
const info = `${registry(acme)}/metadata/v1/info`;
const instruments = `${registry(acme)}/metadata/v1/instruments`;
const utility = "/api/utilities/v0/operator";

async function serving(config: Partial<Config>): Promise<string> {
  const running = await serveFile(undefined, { config });
  onTestFinished(() => running.close());
  return running.url;
}

/**
 * What comes of questions that all fall into one window: a machine that stands
 * still meanwhile does not count. Each attempt finds that what was counted before is over.
 */
async function inOneWindow<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < 8; attempt++) {
    if (attempt > 0) await pause(1_100);
    const begun = performance.now();
    const found = await ask();
    if (performance.now() - begun < 900) return found;
  }
  throw new Error("this machine is too slow to ask a few times within a second");
}

async function asked(url: string, paths: readonly string[], from?: string): Promise<Told[]> {
  const told: Told[] = [];
  for (const path of paths) {
    const headers = from === undefined ? {} : { "x-forwarded-for": from };
    told.push(await askHttp1(url, path, headers));
  }
  return told;
}

const times = <T>(count: number, what: T): T[] => Array.from({ length: count }, () => what);
const statuses = (told: readonly Told[]): (number | undefined)[] => told.map(({ status }) => status);

const askWithBody = (url: string) =>
  askHttp1(url, utility, { "content-type": "application/json" }, `{"a":"${"b".repeat(100_000)}"}`);

describe("for each client and operation", () => {
  test("the first beyond the limit is refused, and told when to ask again", async () => {
    const url = await serving({ ratePerClient: MOST });
    const told = await inOneWindow(() => asked(url, [...times(MOST + 1, info), instruments]));
    expect(statuses(told)).toEqual([...times(MOST, 200), 429, 200]);
    expect(told[MOST]?.headers["retry-after"]).toBe("1");
    expect(told[MOST]?.headers["content-type"]).toMatch(/^application\/json/);
    expect(JSON.parse(told[MOST]?.body ?? "")).toEqual({
      error: `rate limit exceeded: ${MOST} requests per second per client and operation`,
    });
    // As long as it was told.
    await pause(1_100);
    expect(statuses(await asked(url, [info]))).toEqual([200]);
  });

  test("a utility operation tells it in its own form", async () => {
    const url = await serving({ ratePerClient: 1 });
    const told = await inOneWindow(() => asked(url, [utility, utility]));
    expect(statuses(told)).toEqual([200, 429]);
    expect(JSON.parse(told[1]?.body ?? "")).toMatchObject({ error: "resource_exhausted" });
  });

  test("the body of what is refused is read, and the connection goes on", async () => {
    const url = await serving({ ratePerClient: 1 });
    const [first, second] = await inOneWindow(async () => {
      return [await askWithBody(url), await askWithBody(url)];
    });
    // Nothing is served there by POST: what is asked for at no path counts as one operation.
    expect([first.status, second.status]).toEqual([404, 429]);
  });

  test("health is answered always, by every protocol", async () => {
    const url = await serving({ ratePerClient: 1, rateInAll: 1 });
    expect(statuses(await asked(url, times(10, "/livez")))).toEqual(times(10, 200));
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

describe("over all", () => {
  test("requests of all clients for all operations count together", async () => {
    const url = await serving({ rateInAll: MOST, trustedProxies: ["127.0.0.1"] });
    const told = await inOneWindow(async () => [
      ...(await asked(url, [info, instruments], "192.0.2.1")),
      ...(await asked(url, [info, utility], "192.0.2.2")),
    ]);
    expect(statuses(told)).toEqual([200, 200, 200, 429]);
    expect(told[3]?.headers["retry-after"]).toBe("1");
    expect(told[3]?.body).toContain(`rate limit exceeded: ${MOST} requests per second in total`);
  });

  test("what one client asks too much takes nothing from the others", async () => {
    const url = await serving({ ratePerClient: 1, rateInAll: 2, trustedProxies: ["127.0.0.1"] });
    const told = await inOneWindow(async () => [
      ...(await asked(url, times(10, info), "192.0.2.1")),
      ...(await asked(url, [info], "192.0.2.2")),
    ]);
    expect(statuses(told)).toEqual([200, ...times(9, 429), 200]);
  });
});

const transports: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  "Connect JSON": (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  "Connect binary over HTTP/2": (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: true }),
  "Connect GET": (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useHttpGet: true }),
  gRPC: (baseUrl) => createGrpcTransport({ baseUrl }),
  "gRPC-Web": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
  "gRPC-Web over HTTP/2": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" }),
};

describe.each(Object.entries(transports))("a client by %s", (_name, transportTo) => {
  test("reads the code, and when to ask again", async () => {
    const url = await serving({ ratePerClient: 1 });
    const transport = transportTo(url);
    const ask = () =>
      transport.unary(MetadataService.method.getRegistryInfo, undefined, undefined, undefined, {
        registrarParty: acme,
      });
    const error = await inOneWindow(async () => {
      await ask();
      return ask().then(
        () => undefined,
        (reason: unknown) => ConnectError.from(reason),
      );
    });
    expect(error).toMatchObject({
      code: Code.ResourceExhausted,
      rawMessage: "rate limit exceeded: 1 requests per second per client and operation",
    });
    expect(error?.metadata.get("retry-after")).toBe("1");
  });
});

/** Whether two questions with these headers are those of one client. */
async function areOne(
  config: Partial<Config>,
  first: string | undefined,
  second: string | undefined,
): Promise<boolean> {
  const url = await serving({ ratePerClient: 1, ...config });
  const told = await inOneWindow(async () => [
    ...(await asked(url, [info], first)),
    ...(await asked(url, [info], second)),
  ]);
  expect(told[0]?.status).toBe(200);
  return told[1]?.status === 429;
}

describe("the client's address", () => {
  const behindProxy = { trustedProxies: ["127.0.0.1", "10.0.0.0/8", "2001:db8:ffff::/48"] };

  test.each([
    ["without a proxy is the peer's, whatever is forwarded", {}, "192.0.2.1", "192.0.2.2", true],
    [
      "behind another than the named proxy is the peer's",
      { trustedProxies: ["10.0.0.1"] },
      "192.0.2.1",
      "192.0.2.2",
      true,
    ],
    ["behind a named proxy is what it forwards", behindProxy, "192.0.2.1", "192.0.2.2", false],
    ["is the same for the same", behindProxy, "192.0.2.1", "192.0.2.1", true],
    [
      "is the last, not what a caller has made up before it",
      behindProxy,
      "198.51.100.1, 192.0.2.1",
      "198.51.100.2, 192.0.2.1",
      true,
    ],
    ["is the last that is no proxy", behindProxy, "192.0.2.1, 10.1.2.3", "192.0.2.2, 10.1.2.3", false],
    [
      "is not spoofed by what stands before a proxy's",
      behindProxy,
      "1.1.1.1, 192.0.2.1, 10.1.2.3",
      "2.2.2.2, 192.0.2.1, 10.4.5.6",
      true,
    ],
    ["of IPv6 counts by its network", behindProxy, "2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true],
    ["of IPv6 in another network is another", behindProxy, "2001:db8:0:1::1", "2001:db8:0:2::1", false],
    [
      "is what stands behind a proxy of IPv6",
      behindProxy,
      "192.0.2.1, 2001:db8:ffff::1",
      "192.0.2.2, 2001:db8:ffff::2",
      false,
    ],
    ["is the same by every port", behindProxy, "192.0.2.1:4711", "192.0.2.1:4712", true],
    ["that is none is one client", behindProxy, "unknown", "_hidden", true],
    ["is the peer's where nothing is forwarded", behindProxy, undefined, undefined, true],
  ] as const)("%s", async (_what, config, first, second, isOne) => {
    expect(await areOne(config, first, second)).toBe(isOne);
  });
});
