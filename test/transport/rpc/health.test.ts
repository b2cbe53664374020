/** grpc.health.v1.Health over every protocol with streaming responses. */
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { ErrorInfoSchema, RetryInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../gen/grpc/health/v1/health_pb.js";
import { until, within } from "../../fixtures/wait.js";
import { startStandalone, type StandaloneServer, transports } from "./standalone-server.js";

const names = [
  "",
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
  "offledger.burn.v0.BurnService",
  "offledger.health.v1.HealthService",
];

/** Opens a watch whose states are read one by one. It ends with the test. */
function openWatch(transport: Transport, service = "") {
  const cancel = new AbortController();
  onTestFinished(() => cancel.abort());
  const states = createClient(Health, transport).watch({ service }, { signal: cancel.signal })[Symbol.asyncIterator]();
  return {
    /** Returns the next state, or the error that ended the watch. */
    async next(): Promise<Status | ConnectError | undefined> {
      try {
        const { value, done } = await within(20_000, "the next state", states.next());
        return done === true ? undefined : value.status;
      } catch (error) {
        return ConnectError.from(error);
      }
    },
    cancel: () => cancel.abort(),
  };
}

async function catchCode(promise: Promise<unknown>): Promise<Code | undefined> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error === undefined ? undefined : ConnectError.from(error).code;
}

describe.each(Object.entries(transports))("over %s", (_name, createTransport) => {
  /** Starts a server and a transport to it. */
  async function start(...limits: Parameters<typeof startStandalone>): Promise<[StandaloneServer, Transport]> {
    const server = await startStandalone(...limits);
    return [server, createTransport(server.url)];
  }

  test("each served service is SERVING when the service is ready; other names are unknown", async () => {
    const [server, transport] = await start();
    const client = createClient(Health, transport);
    for (const service of names) expect(await client.check({ service })).toMatchObject({ status: Status.SERVING });
    server.reason = "no snapshot yet";
    for (const service of names) expect(await client.check({ service })).toMatchObject({ status: Status.NOT_SERVING });
    for (const service of ["burn", "offledger.burn.v0", "grpc.health.v1.Health/Check", "__proto__", "toString"]) {
      expect({ service, code: await catchCode(client.check({ service })) }).toEqual({ service, code: Code.NotFound });
    }
  });

  test("the list has the state of every service", async () => {
    const [server, transport] = await start();
    for (const [reason, status] of [
      [undefined, Status.SERVING],
      ["no snapshot yet", Status.NOT_SERVING],
    ] as const) {
      server.reason = reason;
      const { statuses } = await createClient(Health, transport).list({});
      expect(Object.keys(statuses).toSorted()).toEqual(names);
      expect(new Set(Object.values(statuses).map((one) => one.status))).toEqual(new Set([status]));
    }
  });

  test("a watch receives the state at once, and each change", async () => {
    const [server, transport] = await start();
    const watch = openWatch(transport, "offledger.burn.v0.BurnService");
    for (let round = 0; round < 3; round++) {
      server.reason = undefined;
      expect(await watch.next()).toBe(Status.SERVING);
      server.reason = "the ledger is away";
      expect(await watch.next()).toBe(Status.NOT_SERVING);
    }
  });

  test("a watch of an unknown service receives SERVICE_UNKNOWN, and lasts until the service stops", async () => {
    const [server, transport] = await start();
    const watch = openWatch(transport, "burn");
    expect(await watch.next()).toBe(Status.SERVICE_UNKNOWN);
    const next = watch.next();
    server.reason = "the ledger is away";
    await createClient(Health, transport).check({});
    await within(20_000, "the server closes", server.close());
    expect(await next).toMatchObject({ code: Code.Unavailable });
  });

  test("watches receive NOT_SERVING and end when the service stops", async () => {
    const [server, transport] = await start();
    const watches = [openWatch(transport), openWatch(transport)];
    for (const watch of watches) expect(await watch.next()).toBe(Status.SERVING);
    const closed = server.close();
    for (const watch of watches) {
      expect(await watch.next()).toBe(Status.NOT_SERVING);
      expect(await watch.next()).toMatchObject({
        code: Code.Unavailable,
        rawMessage: "the service is stopping; retry",
      });
    }
    await within(20_000, "the server closes", closed);
  });

  test("the number of watches is limited, and a cancelled watch frees a place", async () => {
    const [, transport] = await start({ watches: 2 });
    const watches = [openWatch(transport), openWatch(transport)];
    for (const watch of watches) expect(await watch.next()).toBe(Status.SERVING);
    const refused = await openWatch(transport).next();
    expect(refused).toMatchObject({
      code: Code.ResourceExhausted,
      rawMessage: "the limit of 2 watches is reached; retry later",
    });
    expect((refused as ConnectError).metadata.get("retry-after")).toBe("1");
    expect((refused as ConnectError).findDetails(ErrorInfoSchema)).toMatchObject([{ reason: "TOO_MANY_STREAMS" }]);
    expect((refused as ConnectError).findDetails(RetryInfoSchema)).toMatchObject([{ retryDelay: { seconds: 1n } }]);
    watches[0]?.cancel();
    await until("a place is free", async () => (await openWatch(transport).next()) === Status.SERVING);
  });

  test("a watch has a maximum duration", async () => {
    const [, transport] = await start({ watchMs: 50 });
    const watch = openWatch(transport);
    expect(await watch.next()).toBe(Status.SERVING);
    expect(await watch.next()).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringContaining("50 ms") });
  });
});
