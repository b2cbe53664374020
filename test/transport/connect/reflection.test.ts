/** gRPC reflection, versions 1 and 1alpha, held against the descriptors that buf writes of the same proto files. */
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
import { within } from "../../fixtures/wait.js";
import { stand } from "./standalone-server.js";

type Asked = NonNullable<MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"]>;

/** Over HTTP/1.1 nothing can be asked and answered by turns. */
const transports: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  gRPC: (baseUrl) => createGrpcTransport({ baseUrl }),
  "gRPC-Web": (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" }),
  Connect: (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2" }),
};
const versions = { v1: ServerReflection, v1alpha: ServerReflectionV1Alpha as unknown as typeof ServerReflection };
const image = fromBinary(FileDescriptorSetSchema, new Uint8Array(readFileSync("gen/offledger.binpb")));

/** Asks one question after the other on one stream, each when the one before has been answered. */
async function ask(url: string, asked: readonly Asked[], version = versions.v1, transportTo = transports["gRPC"]) {
  if (transportTo === undefined) throw new Error("there is no transport of that name");
  const answers = [];
  let answered: (() => void) | undefined;
  async function* requests() {
    for (const messageRequest of asked) {
      const turn = new Promise<void>((resolve) => (answered = resolve));
      yield { host: "somewhere", messageRequest };
      await turn;
    }
  }
  for await (const answer of createClient(version, transportTo(url)).serverReflectionInfo(requests())) {
    expect(answer.validHost).toBe("somewhere");
    expect(answer.originalRequest?.messageRequest).toMatchObject(asked[answers.length] ?? {});
    answers.push(answer.messageResponse);
    answered?.();
  }
  expect(answers).toHaveLength(asked.length);
  return answers;
}

const symbol = (value: string): Asked => ({ case: "fileContainingSymbol", value });
const byName = (value: string): Asked => ({ case: "fileByFilename", value });
const extension = (containingType: string, extensionNumber: number): Asked => {
  const value: MessageInitShape<typeof ExtensionRequestSchema> = { containingType, extensionNumber };
  return { case: "fileContainingExtension", value };
};

type Answer = Awaited<ReturnType<typeof ask>>[number] | undefined;

function filesOf(answer: Answer): FileDescriptorProto[] {
  if (answer?.case !== "fileDescriptorResponse") throw new Error(`no files: ${answer?.case}`);
  return answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
}

const namesOf = (answer: Answer): string[] => filesOf(answer).map(({ name }) => name);

/** What a client makes of the files, which it takes in the order of their imports; throws where one is missing. */
function registryOf(files: readonly FileDescriptorProto[]): Registry {
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
  test.each(Object.entries(transports))("lists every service by %s", async (_name, transportTo) => {
    const { url } = await stand();
    const [answer] = await ask(url, [{ case: "listServices", value: "*" }], version, transportTo);
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

  test.each(Object.entries(transports))("gives a file with all that it imports by %s", async (_name, transportTo) => {
    const { url } = await stand();
    const [answer] = await ask(url, [symbol("offledger.burn.v0.BurnService")], version, transportTo);
    const files = filesOf(answer);
    expect(files[0]?.name).toBe("offledger/burn/v0/burn_service.proto");
    expect(new Set(files.map(({ name }) => name)).size).toBe(files.length);
    for (const file of files) {
      const written = image.file.find(({ name }) => name === file.name);
      expect({ name: file.name, imports: file.dependency }).toEqual({ name: file.name, imports: written?.dependency });
    }
    // Those that come out of packages of others are made of another text.
    const own = files.filter(({ name }) => name.startsWith("offledger/"));
    expect(own.length).toBeGreaterThan(2);
    expect(own).toEqual(own.map(({ name }) => image.file.find((one) => one.name === name)));
    const service = registryOf(files).getService("offledger.burn.v0.BurnService");
    expect(service?.methods.length).toBeGreaterThan(3);
  });
});

test("finds the file of every kind of name", async () => {
  const { url } = await stand();
  const places = {
    "offledger.burn.v0.BurnService": "offledger/burn/v0/burn_service.proto",
    "offledger.burn.v0.BurnService.GetBurnOfferCancelContext": "offledger/burn/v0/burn_service.proto",
    "offledger.health.v1.GetReadinessResponse": "offledger/health/v1/health.proto",
    "offledger.health.v1.GetReadinessResponse.status": "offledger/health/v1/health.proto",
    "grpc.health.v1.HealthCheckResponse.ServingStatus": "grpc/health/v1/health.proto",
    // A value stands beside its enumeration.
    "grpc.health.v1.HealthCheckResponse.NOT_SERVING": "grpc/health/v1/health.proto",
    "grpc.reflection.v1.ServerReflectionRequest.message_request": "grpc/reflection/v1/reflection.proto",
    "grpc.reflection.v1alpha.ServerReflection": "grpc/reflection/v1alpha/reflection.proto",
    "google.api.http": "google/api/annotations.proto",
    "google.protobuf.FieldDescriptorProto.TYPE_BOOL": "google/protobuf/descriptor.proto",
    "buf.validate.field": "buf/validate/validate.proto",
  };
  for (const [name, place] of Object.entries(places)) {
    const [answer] = await ask(url, [symbol(name)]);
    expect({ name, place: namesOf(answer)[0] }).toEqual({ name, place });
  }
});

test("gives on one stream what has been asked for again, and what it imports no second time", async () => {
  const { url } = await stand();
  const path = "offledger/health/v1/health_service.proto";
  const [first, second, third] = await ask(url, [
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
  const { url } = await stand();
  const [file, numbers, none] = await ask(url, [
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

test("says of what is not there that it is not, and goes on", async () => {
  const { url } = await stand();
  const asked = [
    byName("offledger/health/v1/nothing.proto"),
    symbol("offledger.health.v1"),
    symbol("toString"),
    extension("google.protobuf.MethodOptions", 1),
    extension("offledger.nothing", 1),
    { case: "allExtensionNumbersOfType", value: "offledger.nothing" },
    { case: undefined },
    symbol("offledger.health.v1.HealthService"),
  ] as const;
  const answers = await ask(url, asked);
  const codes = answers.map((answer) => (answer.case === "errorResponse" ? answer.value.errorCode : answer.case));
  expect(codes).toEqual([5, 5, 5, 5, 5, 5, 12, "fileDescriptorResponse"]);
  expect(answers[0]).toMatchObject({
    value: { errorMessage: "file offledger/health/v1/nothing.proto is unknown" },
  });
});

async function ending(promise: Promise<unknown>): Promise<ConnectError> {
  try {
    await within(10_000, "the stream is over", promise);
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("it ended without an error");
}

async function* oneQuestion() {
  yield { messageRequest: symbol("offledger.health.v1.HealthService") };
  await new Promise<void>((resolve) => setTimeout(resolve, 60_000).unref());
}

/** A stream on which nothing more is asked, and which the client does not end. */
async function silent(url: string, transportTo = transports["gRPC"]): Promise<void> {
  if (transportTo === undefined) throw new Error("there is no transport of that name");
  for await (const _answer of createClient(ServerReflection, transportTo(url)).serverReflectionInfo(oneQuestion())) {
    // Only the end is of interest.
  }
}

describe.each(Object.entries(transports))("a stream by %s", (_name, transportTo) => {
  test("ends where nothing is asked for too long", async () => {
    const { url, defects } = await stand({ idleMs: 50 });
    const error = await ending(silent(url, transportTo));
    expect(error).toMatchObject({
      code: Code.DeadlineExceeded,
      rawMessage: "no request arrived within 50 ms; open another stream",
    });
    expect(defects).toEqual([]);
  });

  test("ends where too much is asked", async () => {
    const { url, defects } = await stand({ requests: 2 });
    const asked = symbol("offledger.health.v1.HealthService");
    await ask(url, [asked, asked], versions.v1, transportTo);
    const error = await ending(ask(url, [asked, asked, asked], versions.v1, transportTo));
    expect(error.code).toBe(Code.ResourceExhausted);
    expect(defects).toEqual([]);
  });

  test("ends where a question is too large", async () => {
    const { url, defects } = await stand();
    const error = await ending(ask(url, [symbol("x".repeat(70_000))], versions.v1, transportTo));
    expect(error.code).toBe(Code.ResourceExhausted);
    expect(defects).toEqual([]);
  });

  test("ends when the service stops", async () => {
    const place = await stand();
    const over = ending(silent(place.url, transportTo));
    await ask(place.url, [symbol("offledger.health.v1.HealthService")]);
    await within(5_000, "the server closes", place.close());
    expect((await over).code).toBe(Code.Unavailable);
    expect(place.defects).toEqual([]);
  });

  test("is one of so many", async () => {
    const { url } = await stand({ reflections: 0 });
    const error = await ending(ask(url, [symbol("offledger.health.v1.HealthService")], versions.v1, transportTo));
    expect(error.code).toBe(Code.ResourceExhausted);
    expect(error.metadata.get("retry-after")).toBe("1");
  });
});

test("HTTP/1.1 is told that it will not do", async () => {
  const { url } = await stand();
  const response = await fetch(`${url}/${ServerReflection.typeName}/ServerReflectionInfo`, {
    method: "POST",
    headers: { "content-type": "application/connect+json" },
    body: new Uint8Array([0, 0, 0, 0, 2, 0x7b, 0x7d]),
  });
  expect(response.status).toBe(505);
});
