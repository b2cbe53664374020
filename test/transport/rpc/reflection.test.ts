/** gRPC reflection v1 and v1alpha, compared with the descriptors that buf writes. */
import { readFileSync } from "node:fs";
import { create, createFileRegistry, fromBinary, type MessageInitShape, type Registry } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import {
  type ExtensionRequestSchema,
  ServerReflection,
  type ServerReflectionRequestSchema,
} from "../../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionV1Alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.js";
import { MAX_WAIT_MS, within } from "../../fixtures/wait.js";
import { startStandalone } from "./standalone-server.js";

type Query = NonNullable<MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"]>;

/** HTTP/1.1 has no bidirectional streams. */
const transports: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  gRPC: (baseUrl) => createGrpcTransport({ baseUrl }),
  "gRPC-Web": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" }),
  Connect: (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2" }),
};
const versions = { v1: ServerReflection, v1alpha: ServerReflectionV1Alpha as unknown as typeof ServerReflection };
const image = fromBinary(FileDescriptorSetSchema, new Uint8Array(readFileSync("gen/offledger.binpb")));

/** Sends requests on one stream, each after the response to the one before. */
async function exchange(
  url: string,
  queries: readonly Query[],
  version = versions.v1,
  createTransport = transports["gRPC"],
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

const symbol = (value: string): Query => ({ case: "fileContainingSymbol", value });
const byName = (value: string): Query => ({ case: "fileByFilename", value });
const extension = (containingType: string, extensionNumber: number): Query => {
  const value: MessageInitShape<typeof ExtensionRequestSchema> = { containingType, extensionNumber };
  return { case: "fileContainingExtension", value };
};

type Answer = Awaited<ReturnType<typeof exchange>>[number] | undefined;

function filesOf(answer: Answer): FileDescriptorProto[] {
  if (answer?.case !== "fileDescriptorResponse") throw new Error(`no files: ${answer?.case}`);
  return answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
}

const namesOf = (answer: Answer): string[] => filesOf(answer).map(({ name }) => name);

/** Builds a registry of the files in the order of their imports. Throws when one is missing. */
function buildRegistry(files: readonly FileDescriptorProto[]): Registry {
  const ordered = new Set<FileDescriptorProto>();
  const add = (path: string) => {
    const file = files.find(({ name }) => name === path);
    if (file === undefined) throw new Error(`${path} was not sent`);
    for (const imported of file.dependency) add(imported);
    ordered.add(file);
  };
  for (const { name } of files) add(name);
  return createFileRegistry(create(FileDescriptorSetSchema, { file: [...ordered] }));
}

describe.each(Object.entries(versions))("%s", (_version, version) => {
  test.each(Object.entries(transports))("lists every service over %s", async (_name, createTransport) => {
    const { url } = await startStandalone();
    const [answer] = await exchange(url, [{ case: "listServices", value: "*" }], version, createTransport);
    expect(answer).toMatchObject({
      case: "listServicesResponse",
      value: {
        service: [
          { name: "grpc.health.v1.Health" },
          { name: "grpc.reflection.v1.ServerReflection" },
          { name: "grpc.reflection.v1alpha.ServerReflection" },
          { name: "offledger.burn.v0.BurnService" },
          { name: "offledger.health.v1.HealthService" },
        ],
      },
    });
  });

  test.each(Object.entries(transports))(
    "returns a file with all its imports over %s",
    async (_name, createTransport) => {
      const { url } = await startStandalone();
      const [answer] = await exchange(url, [symbol("offledger.burn.v0.BurnService")], version, createTransport);
      const files = filesOf(answer);
      expect(files[0]?.name).toBe("offledger/burn/v0/burn_service.proto");
      expect(new Set(files.map(({ name }) => name)).size).toBe(files.length);
      for (const file of files) {
        const written = image.file.find(({ name }) => name === file.name);
        expect({ name: file.name, imports: file.dependency }).toEqual({
          name: file.name,
          imports: written?.dependency,
        });
      }
      const service = buildRegistry(files).getService("offledger.burn.v0.BurnService");
      expect(service?.methods.length).toBeGreaterThan(3);
    },
  );
});

test("finds the file of every kind of symbol", async () => {
  const { url } = await startStandalone();
  const places = {
    "offledger.burn.v0.BurnService": "offledger/burn/v0/burn_service.proto",
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
    expect({ name, place: namesOf(answer)[0] }).toEqual({ name, place });
  }
});

test("sends a requested file again on the same stream, but not its imports", async () => {
  const { url } = await startStandalone();
  const path = "offledger/health/v1/health_service.proto";
  const [first, second, third] = await exchange(url, [
    byName(path),
    byName(path),
    byName("offledger/health/v1/health.proto"),
  ]);
  expect(namesOf(first).toSorted()).toEqual([
    "buf/validate/validate.proto",
    "google/api/annotations.proto",
    "google/api/http.proto",
    "google/protobuf/descriptor.proto",
    "google/protobuf/duration.proto",
    "google/protobuf/field_mask.proto",
    "google/protobuf/timestamp.proto",
    "offledger/health/v1/health.proto",
    path,
  ]);
  expect(namesOf(second)).toEqual([path]);
  expect(namesOf(third)).toEqual(["offledger/health/v1/health.proto"]);
});

test("finds extensions by message and number, and numbers by message", async () => {
  const { url } = await startStandalone();
  const [file, numbers, none] = await exchange(url, [
    extension("google.protobuf.MethodOptions", 72295728),
    { case: "allExtensionNumbersOfType", value: "google.protobuf.MethodOptions" },
    { case: "allExtensionNumbersOfType", value: "offledger.health.v1.GetReadinessResponse" },
  ]);
  expect(namesOf(file)[0]).toBe("google/api/annotations.proto");
  expect(numbers).toMatchObject({
    case: "allExtensionNumbersResponse",
    value: { baseTypeName: "google.protobuf.MethodOptions", extensionNumber: [72295728] },
  });
  expect(none).toMatchObject({ case: "allExtensionNumbersResponse", value: { extensionNumber: [] } });
});

test("reports unknown names, and keeps the stream open", async () => {
  const { url } = await startStandalone();
  const queries = [
    byName("offledger/health/v1/nothing.proto"),
    symbol("offledger.health.v1"),
    symbol("toString"),
    extension("google.protobuf.MethodOptions", 1),
    extension("offledger.nothing", 1),
    { case: "allExtensionNumbersOfType", value: "offledger.nothing" },
    { case: undefined },
    symbol("offledger.health.v1.HealthService"),
  ] as const;
  const answers = await exchange(url, queries);
  const codes = answers.map((answer) => (answer.case === "errorResponse" ? answer.value.errorCode : answer.case));
  expect(codes).toEqual([5, 5, 5, 5, 5, 5, 12, "fileDescriptorResponse"]);
  expect(answers[0]).toMatchObject({
    value: { errorMessage: "file offledger/health/v1/nothing.proto is unknown" },
  });
});

async function catchError(promise: Promise<unknown>): Promise<ConnectError> {
  try {
    await within(20_000, "the stream ends", promise);
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("it ended without an error");
}

async function* oneQuestion() {
  yield { messageRequest: symbol("offledger.health.v1.HealthService") };
  await new Promise<void>((resolve) => setTimeout(resolve, 60_000).unref());
}

/** A stream without further requests, which the client does not end. */
async function silent(url: string): Promise<void> {
  const client = createClient(ServerReflection, createGrpcTransport({ baseUrl: url }));
  for await (const _answer of client.serverReflectionInfo(oneQuestion())) {
    // Only the end is of interest.
  }
}

describe("a stream", () => {
  test("ends after its maximum duration", async () => {
    const { url } = await startStandalone({ reflectionMs: 50 });
    const error = await catchError(silent(url));
    expect(error).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringContaining("50 ms") as string });
  });

  test("ends after too many requests", async () => {
    const { url } = await startStandalone({ requests: 2 });
    const query = symbol("offledger.health.v1.HealthService");
    await exchange(url, [query, query]);
    const error = await catchError(exchange(url, [query, query, query]));
    expect(error.code).toBe(Code.ResourceExhausted);
  });

  test("ends when the service stops", async () => {
    const place = await startStandalone();
    const over = catchError(silent(place.url));
    await exchange(place.url, [symbol("offledger.health.v1.HealthService")]);
    await within(MAX_WAIT_MS, "the server closes", place.close());
    expect((await over).code).toBe(Code.Unavailable);
  });

  test("is one of so many", async () => {
    const { url } = await startStandalone({ reflections: 0 });
    const error = await catchError(exchange(url, [symbol("offledger.health.v1.HealthService")]));
    expect(error.code).toBe(Code.ResourceExhausted);
    expect(error.metadata.get("retry-after")).toBe("1");
  });
});

test("HTTP/1.1 gets an error", async () => {
  const { url } = await startStandalone();
  const response = await fetch(`${url}/${ServerReflection.typeName}/ServerReflectionInfo`, {
    method: "POST",
    headers: { "content-type": "application/connect+json" },
    body: new Uint8Array([0, 0, 0, 0, 2, 0x7b, 0x7d]),
  });
  expect(response.status).toBe(505);
});
