/** grpc.health.v1 and gRPC reflection, over every protocol with streaming responses, with a readiness that the test sets. */
import { readFileSync } from "node:fs";
import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { ErrorInfoSchema, RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../gen/grpc/health/v1/health_pb.js";
import { ServerReflection, type ServerReflectionRequestSchema } from "../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionV1Alpha } from "../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { BurnService } from "../../gen/offledger/burn/v0/burn_service_pb.js";
import { HealthService } from "../../gen/offledger/health/v1/health_service_pb.js";
import { standardServices, type StreamLimits } from "../../src/transport/rpc/standard-services.js";
import { createServer } from "../../src/transport/server.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";
import { until, within } from "../fixtures/wait.js";

const BOUND_MS = 20_000;
const http2: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  gRPC: (baseUrl) => createGrpcTransport({ baseUrl }),
  "gRPC-Web over HTTP/2": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" }),
  "Connect over HTTP/2": (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: true }),
};
const transports = {
  ...http2,
  "gRPC-Web over HTTP/1.1": (baseUrl: string) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
  "Connect over HTTP/1.1": (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: "1.1" }),
};

/** Serves until the test ends. */
async function start(limits: Partial<StreamLimits> = {}) {
  const state = { reason: undefined as string | undefined };
  const standard = standardServices({
    services: [HealthService, BurnService],
    notReadyReason: () => state.reason,
    limits: { pollMs: 5, ...limits },
  });
  const server = await createServer([], { ...TEST_SERVER_OPTIONS, standard });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= server.close(2_000));
  onTestFinished(close);
  return Object.assign(state, { url: await server.listen("127.0.0.1", 0), close });
}

async function errorOf(promise: Promise<unknown>): Promise<ConnectError> {
  try {
    await within(BOUND_MS, "the call ends", promise);
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("it ended without an error");
}

/** Opens a watch whose states are read one by one. It ends with the test. */
function openWatch(transport: Transport, service = "") {
  const cancel = new AbortController();
  onTestFinished(() => cancel.abort());
  const states = createClient(Health, transport).watch({ service }, { signal: cancel.signal })[Symbol.asyncIterator]();
  return {
    /** The next state, or the error that ended the watch. */
    async next(): Promise<Status | ConnectError | undefined> {
      try {
        const { value, done } = await within(BOUND_MS, "the next state", states.next());
        return done === true ? undefined : value.status;
      } catch (error) {
        return ConnectError.from(error);
      }
    },
    cancel: () => cancel.abort(),
  };
}

const burn = "offledger.burn.v0.BurnService";
const services = [
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
  burn,
  "offledger.health.v1.HealthService",
];

describe.each(Object.entries(transports))("health over %s", (_name, createTransport) => {
  test("check and list: each served service is as ready as the service; other names are unknown", async () => {
    const server = await start();
    const client = createClient(Health, createTransport(server.url));
    for (const [reason, status] of [
      [undefined, Status.SERVING],
      ["no snapshot yet", Status.NOT_SERVING],
    ] as const) {
      server.reason = reason;
      for (const service of ["", ...services]) expect(await client.check({ service })).toMatchObject({ status });
      const { statuses } = await client.list({});
      expect(Object.keys(statuses).toSorted()).toEqual(["", ...services]);
      expect(new Set(Object.values(statuses).map((one) => one.status))).toEqual(new Set([status]));
    }
    for (const service of ["burn", "offledger.burn.v0", "grpc.health.v1.Health/Check", "__proto__", "toString"])
      expect((await errorOf(client.check({ service }))).code).toBe(Code.NotFound);
  });

  test("a watch receives the state and each change; all end when the service stops", async () => {
    const server = await start();
    const transport = createTransport(server.url);
    const [watch, unknown] = [openWatch(transport, burn), openWatch(transport, "burn")];
    expect(await unknown.next()).toBe(Status.SERVICE_UNKNOWN);
    for (const [reason, status] of [
      [undefined, Status.SERVING],
      ["the ledger is away", Status.NOT_SERVING],
      [undefined, Status.SERVING],
    ] as const) {
      server.reason = reason;
      expect(await watch.next()).toBe(status);
    }
    const closed = server.close();
    expect(await watch.next()).toBe(Status.NOT_SERVING);
    const stopping = { code: Code.Unavailable, rawMessage: "the service is stopping; retry" };
    for (const one of [watch, unknown]) expect(await one.next()).toMatchObject(stopping);
    await within(BOUND_MS, "the server closes", closed);
  });

  test("the number of watches is limited, a cancelled one frees a place, and each has a maximum duration", async () => {
    const transport = createTransport((await start({ watches: 2 })).url);
    const watches = [openWatch(transport), openWatch(transport)];
    for (const watch of watches) expect(await watch.next()).toBe(Status.SERVING);
    const refused = (await openWatch(transport).next()) as ConnectError;
    const rawMessage = "the limit of 2 watches is reached; retry later";
    expect(refused).toMatchObject({ code: Code.ResourceExhausted, rawMessage });
    expect(refused.metadata.get("retry-after")).toBe("1");
    expect(refused.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: "TOO_MANY_STREAMS" }]);
    expect(refused.findDetails(RetryInfoSchema)).toMatchObject([{ retryDelay: { seconds: 1n } }]);
    watches[0]?.cancel();
    await until("a place is free", async () => (await openWatch(transport).next()) === Status.SERVING);

    const short = openWatch(createTransport((await start({ watchMs: 50 })).url));
    expect(await short.next()).toBe(Status.SERVING);
    const expired = (await short.next()) as ConnectError;
    expect(expired).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringContaining("50 ms") as string });
    expect(expired.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: "STREAM_EXPIRED" }]);
  });
});

type Query = NonNullable<MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"]>;
const versions = { v1: ServerReflection, v1alpha: ServerReflectionV1Alpha as unknown as typeof ServerReflection };
const image = fromBinary(FileDescriptorSetSchema, new Uint8Array(readFileSync("gen/offledger.binpb")));

/** Sends requests on one stream, each after the response to the one before. */
async function exchange(
  url: string,
  queries: readonly Query[],
  version = versions.v1,
  createTransport = http2["gRPC"],
) {
  if (createTransport === undefined) throw new Error("there is no transport of that name");
  const answers = [];
  let resume: (() => void) | undefined;
  async function* requests() {
    for (const messageRequest of queries) {
      const responded = new Promise<void>((resolve) => (resume = resolve));
      yield { host: "somewhere", messageRequest };
      await responded;
    }
  }
  for await (const answer of createClient(version, createTransport(url)).serverReflectionInfo(requests())) {
    expect(answer.validHost).toBe("somewhere");
    expect(answer.originalRequest?.messageRequest).toMatchObject(queries[answers.length] ?? {});
    answers.push(answer.messageResponse);
    resume?.();
  }
  expect(answers).toHaveLength(queries.length);
  return answers;
}
type Answer = Awaited<ReturnType<typeof exchange>>[number] | undefined;

const symbol = (value: string): Query => ({ case: "fileContainingSymbol", value });
const byName = (value: string): Query => ({ case: "fileByFilename", value });
const extension = (containingType: string, extensionNumber: number): Query => ({
  case: "fileContainingExtension",
  value: { containingType, extensionNumber },
});
const numbersOf = (value: string): Query => ({ case: "allExtensionNumbersOfType", value });

function filesOf(answer: Answer): FileDescriptorProto[] {
  if (answer?.case !== "fileDescriptorResponse") throw new Error(`no files: ${answer?.case}`);
  return answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
}
const namesOf = (answer: Answer): string[] => filesOf(answer).map(({ name }) => name);

async function* oneRequest() {
  yield { messageRequest: symbol(burn) };
  await new Promise<void>((resolve) => setTimeout(resolve, 60_000).unref());
}

/** A stream with one request, which the client does not end. */
async function silent(url: string, onAnswer: () => void = () => undefined): Promise<void> {
  const client = createClient(ServerReflection, createGrpcTransport({ baseUrl: url }));
  for await (const _answer of client.serverReflectionInfo(oneRequest())) onAnswer();
}

describe("reflection", () => {
  const cases = Object.entries(versions).flatMap(([version, service]) =>
    Object.entries(http2).map(([way, transport]) => ({ version, way, service, transport })),
  );
  test.each(cases)("$version over $way: every service, and a file with its imports", async ({ service, transport }) => {
    const { url } = await start();
    const queries: Query[] = [{ case: "listServices", value: "*" }, symbol(burn), symbol(burn)];
    const [list, answer, again] = await exchange(url, queries, service, transport);
    const names = services.map((name) => ({ name }));
    expect(list).toMatchObject({ case: "listServicesResponse", value: { service: names } });
    const files = filesOf(answer);
    expect(files[0]?.name).toBe("offledger/burn/v0/burn_service.proto");
    expect(new Set(files.map(({ name }) => name)).size).toBe(files.length);
    for (const { name, dependency } of files)
      expect([name, dependency]).toEqual([name, image.file.find((file) => file.name === name)?.dependency]);
    const imports = files.flatMap(({ dependency }) => dependency);
    expect(imports.filter((name) => !namesOf(answer).includes(name))).toEqual([]);
    // A stream gets imports once.
    expect(namesOf(again)).toEqual(["offledger/burn/v0/burn_service.proto"]);
  });

  test("finds the file of every kind of symbol, extensions by message and number, and numbers by message", async () => {
    const { url } = await start();
    const places = {
      [burn]: "offledger/burn/v0/burn_service.proto",
      "offledger.health.v1.GetReadinessResponse": "offledger/health/v1/health.proto",
      "grpc.health.v1.HealthCheckResponse.ServingStatus": "grpc/health/v1/health.proto",
      "grpc.health.v1.HealthCheckResponse.NOT_SERVING": "grpc/health/v1/health.proto",
      "google.api.http": "google/api/annotations.proto",
      // No service imports it, but clients decode errors with it.
      "google.rpc.ErrorInfo": "google/rpc/error_details.proto",
      "buf.validate.field": "buf/validate/validate.proto",
    };
    for (const [name, place] of Object.entries(places)) {
      const [answer] = await exchange(url, [symbol(name)]);
      expect([name, namesOf(answer)[0]]).toEqual([name, place]);
    }
    const options = "google.protobuf.MethodOptions";
    const [file, numbers, none] = await exchange(url, [
      extension(options, 72295728),
      numbersOf(options),
      numbersOf("offledger.health.v1.GetReadinessResponse"),
    ]);
    expect(namesOf(file)[0]).toBe("google/api/annotations.proto");
    const found = { baseTypeName: options, extensionNumber: [72295728] };
    expect(numbers).toMatchObject({ case: "allExtensionNumbersResponse", value: found });
    expect(none).toMatchObject({ case: "allExtensionNumbersResponse", value: { extensionNumber: [] } });
  });

  test("reports unknown names, and keeps the stream open", async () => {
    const answers = await exchange((await start()).url, [
      byName("offledger/health/v1/nothing.proto"),
      symbol("offledger.health.v1"),
      symbol("toString"),
      extension("google.protobuf.MethodOptions", 1),
      extension("offledger.nothing", 1),
      numbersOf("offledger.nothing"),
      { case: undefined },
      symbol("offledger.health.v1.HealthService"),
    ]);
    const codes = answers.map((answer) => (answer.case === "errorResponse" ? answer.value.errorCode : answer.case));
    expect(codes).toEqual([5, 5, 5, 5, 5, 5, 12, "fileDescriptorResponse"]);
    const errorMessage = "file offledger/health/v1/nothing.proto is unknown";
    expect(answers[0]).toMatchObject({ value: { errorMessage } });
  });

  test("a stream ends after its duration, after too many requests, and when the service stops", async () => {
    const expired = await errorOf(silent((await start({ reflectionMs: 50 })).url));
    expect(expired).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringContaining("50 ms") as string });

    const { url } = await start({ requests: 2 });
    await exchange(url, [symbol(burn), symbol(burn)]);
    const tooMany = await errorOf(exchange(url, [symbol(burn), symbol(burn), symbol(burn)]));
    expect(tooMany.code).toBe(Code.ResourceExhausted);
    expect(tooMany.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: "TOO_MANY_MESSAGES" }]);

    const place = await start();
    let answers = 0;
    const over = errorOf(silent(place.url, () => answers++));
    await until("the stream is open", () => answers === 1);
    await within(BOUND_MS, "the server closes", place.close());
    expect((await over).code).toBe(Code.Unavailable);
  });

  test("a stream is one of so many", async () => {
    const refused = await errorOf(exchange((await start({ reflections: 0 })).url, [symbol(burn)]));
    expect([refused.code, refused.metadata.get("retry-after")]).toEqual([Code.ResourceExhausted, "1"]);
  });
});
