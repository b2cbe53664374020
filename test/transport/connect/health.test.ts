/** grpc.health.v1.Health, by every protocol over which an answer may be a stream. */
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../gen/grpc/health/v1/health_pb.js";
import { until, within } from "../../fixtures/wait.js";
import { stand, type Standing, transports } from "./standalone-server.js";

const names = [
  "",
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
  "offledger.burn.v0.BurnService",
  "offledger.health.v1.HealthService",
];

/** A watch whose states are read one by one; it ends with the test. */
function watching(transport: Transport, service = "") {
  const gone = new AbortController();
  onTestFinished(() => gone.abort());
  const states = createClient(Health, transport).watch({ service }, { signal: gone.signal })[Symbol.asyncIterator]();
  return {
    /** The next state, or the error in which the watch ended. */
    async next(): Promise<Status | ConnectError | undefined> {
      try {
        const { value, done } = await within(10_000, "another state is told", states.next());
        return done === true ? undefined : value.status;
      } catch (error) {
        return ConnectError.from(error);
      }
    },
    leave: () => gone.abort(),
  };
}

async function codeOf(promise: Promise<unknown>): Promise<Code | undefined> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error === undefined ? undefined : ConnectError.from(error).code;
}

describe.each(Object.entries(transports))("by %s", (_name, transportTo) => {
  /** A place, and a client of it. */
  async function meet(...limits: Parameters<typeof stand>): Promise<[Standing, Transport]> {
    const place = await stand(...limits);
    return [place, transportTo(place.url)];
  }

  test("each service that is served is serving while requests may be sent, and no other is known", async () => {
    const [place, transport] = await meet();
    const client = createClient(Health, transport);
    for (const service of names) expect(await client.check({ service })).toMatchObject({ status: Status.SERVING });
    place.reason = "no snapshot yet";
    for (const service of names) expect(await client.check({ service })).toMatchObject({ status: Status.NOT_SERVING });
    for (const service of ["burn", "offledger.burn.v0", "grpc.health.v1.Health/Check", "__proto__", "toString"]) {
      expect({ service, code: await codeOf(client.check({ service })) }).toEqual({ service, code: Code.NotFound });
    }
  });

  test("the list has every service with its state", async () => {
    const [place, transport] = await meet();
    for (const [reason, status] of [
      [undefined, Status.SERVING],
      ["no snapshot yet", Status.NOT_SERVING],
    ] as const) {
      place.reason = reason;
      const { statuses } = await createClient(Health, transport).list({});
      expect(Object.keys(statuses).toSorted()).toEqual(names);
      expect(new Set(Object.values(statuses).map((one) => one.status))).toEqual(new Set([status]));
    }
  });

  test("a watch is told the state at once, and each change", async () => {
    const [place, transport] = await meet();
    const watch = watching(transport, "offledger.burn.v0.BurnService");
    for (let round = 0; round < 3; round++) {
      place.reason = undefined;
      expect(await watch.next()).toBe(Status.SERVING);
      place.reason = "the ledger is away";
      expect(await watch.next()).toBe(Status.NOT_SERVING);
    }
    expect(place.defects).toEqual([]);
  });

  test("a watch of what is not served is told so, and goes on until the service stops", async () => {
    const [place, transport] = await meet();
    const watch = watching(transport, "burn");
    expect(await watch.next()).toBe(Status.SERVICE_UNKNOWN);
    const next = watch.next();
    place.reason = "the ledger is away";
    const { looks } = place;
    await createClient(Health, transport).check({});
    expect(place.looks).toBe(looks + 1);
    await within(5_000, "the server closes", place.close());
    expect(await next).toMatchObject({ code: Code.Unavailable });
  });

  test("watches end when the service stops, with the word that it is not serving", async () => {
    const [place, transport] = await meet();
    const watches = [watching(transport), watching(transport)];
    for (const watch of watches) expect(await watch.next()).toBe(Status.SERVING);
    const closed = place.close();
    for (const watch of watches) {
      expect(await watch.next()).toBe(Status.NOT_SERVING);
      expect(await watch.next()).toMatchObject({
        code: Code.Unavailable,
        rawMessage: "the service is stopping; retry",
      });
    }
    await within(5_000, "the server closes", closed);
    expect(place.defects).toEqual([]);
  });

  test("there are so many watches and no more, and who leaves makes room", async () => {
    const [place, transport] = await meet({ watches: 2 });
    const watches = [watching(transport), watching(transport)];
    for (const watch of watches) expect(await watch.next()).toBe(Status.SERVING);
    const refused = await watching(transport).next();
    expect(refused).toMatchObject({
      code: Code.ResourceExhausted,
      rawMessage: "the limit of 2 watches is reached; retry later",
    });
    expect((refused as ConnectError).metadata.get("retry-after")).toBe("1");
    watches[0]?.leave();
    await until("there is room", async () => (await watching(transport).next()) === Status.SERVING);
    expect(place.defects).toEqual([]);
  });

  test("a watch lasts no longer than a bound", async () => {
    const [, transport] = await meet({ watchMs: 50 });
    const watch = watching(transport);
    expect(await watch.next()).toBe(Status.SERVING);
    expect(await watch.next()).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringContaining("50 ms") });
  });

  test("a name that is too long is refused", async () => {
    const [place, transport] = await meet();
    const service = "x".repeat(70_000);
    expect(await codeOf(createClient(Health, transport).check({ service }))).toBe(Code.ResourceExhausted);
    expect(await watching(transport, service).next()).toMatchObject({ code: Code.ResourceExhausted });
    expect(await createClient(Health, transport).check({})).toMatchObject({ status: Status.SERVING });
    expect(place.defects).toEqual([]);
  });
});

test("nobody looks whether the service is ready while nobody watches", async () => {
  const place = await stand();
  const transport = transports["gRPC"]?.(place.url);
  if (transport === undefined) throw new Error("there is no transport of that name");
  const watch = watching(transport);
  await watch.next();
  await until("it is looked again and again", () => place.looks > 20);
  watch.leave();
  let looks = -1;
  await until("it is looked no more", async () => {
    const before = looks;
    await new Promise((resolve) => setTimeout(resolve, 50));
    looks = place.looks;
    return before === looks;
  });
  expect(place.defects).toEqual([]);
});

test("bytes that are no message are the caller's fault, and internal where the answer is a stream", async () => {
  const place = await stand();
  const send = async (rpc: string, type: string, body: readonly number[]) => {
    const headers = { "content-type": type };
    const url = `${place.url}/grpc.health.v1.Health/${rpc}`;
    return (await fetch(url, { method: "POST", headers, body: new Uint8Array(body) })).text();
  };
  expect(JSON.parse(await send("Check", "application/proto", [255]))).toMatchObject({ code: "invalid_argument" });
  expect(await send("Check", "application/grpc-web+proto", [0, 0, 0, 0, 1, 255])).toContain("grpc-status: 3");
  expect(await send("Watch", "application/grpc-web+proto", [0, 0, 0, 0, 1, 255])).toContain("grpc-status: 13");
  expect(place.defects).toEqual([]);
});
