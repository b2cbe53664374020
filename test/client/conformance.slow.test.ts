/**
 * The unary cases of Connect's conformance suite, over several transports of
 * connect-es. The id in a request tells the handler how to end. The responses of
 * the real operations are compared in matrix.test.ts.
 */
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { MetadataService } from "../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { TransferInstructionService } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { RegistryError } from "../../src/domain/errors.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { bindPartial } from "../fixtures/partial-service.js";
import { MAX_WAIT_MS, until, within } from "../fixtures/wait.js";
import { configurations } from "./transports.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";

const reasons = {
  invalid: Code.InvalidArgument,
  "not-found": Code.NotFound,
  conflict: Code.Aborted,
  unavailable: Code.Unavailable,
} as const;

/** The reasons of google.rpc.ErrorInfo. */
const infoReasons: Readonly<Record<string, string>> = {
  invalid: "INVALID_ARGUMENT",
  "not-found": "NOT_FOUND",
  conflict: "CONFLICT",
  unavailable: "NOT_READY",
};

/** A message with characters that headers have to escape. */
const MESSAGE = 'what is wrong: ä, 発, %, "" — and more';
const GENERIC = "something went wrong here; the operator's log has the details";

/** The codes in the error table of the service. Any other code is a defect: it becomes `internal`. */
const listedCodes = new Set<Code>([
  Code.InvalidArgument,
  Code.DeadlineExceeded,
  Code.NotFound,
  Code.PermissionDenied,
  Code.ResourceExhausted,
  Code.Aborted,
  Code.Unimplemented,
  Code.Unavailable,
  Code.Unauthenticated,
]);
const codes = Object.values(Code).filter((code) => typeof code === "number");

function parseCode(number: string): Code {
  const code = codes.find((one) => String(one) === number);
  if (code === undefined) throw new Error(`${number} is not a code`);
  return code;
}

let waiting = 0;
let release: (() => void)[] = [];

/** Ends as the id says: with an error, when it is released, or with a response of a given length. */
async function endAs(id: string) {
  const [kind = "", value = ""] = id.split(":");
  if (kind === "reason") throw new RegistryError(value as keyof typeof reasons, MESSAGE);
  if (kind === "code") throw new ConnectError(MESSAGE, parseCode(value), { "x-detail": "a" });
  if (kind === "wait") {
    waiting++;
    await new Promise<void>((resolve) => release.push(resolve));
    waiting--;
  }
  if (kind === "large") return { adminId: "a".repeat(Number(value)), supportedApis: {} };
  return { adminId: id, supportedApis: { "splice-api-token-metadata-v1": 1 } };
}

let server: Server;
let url: string;
beforeAll(async () => {
  const bindings = [
    bindPartial(MetadataService, { getRegistryInfo: ({ registrarParty }) => endAs(registrarParty) }),
    // Choice arguments may be large. The response has the length of a text in them.
    bindPartial(TransferInstructionService, {
      getTransferFactory: async ({ choiceArguments }) => ({
        factoryId: String(JSON.stringify(choiceArguments?.["text"]).length - 2),
      }),
    }),
  ];
  server = await createServer(bindings, TEST_SERVER_OPTIONS);
  url = await server.listen("127.0.0.1", 0);
});
afterAll(() => server.close(1_000));

async function catchError(promise: Promise<unknown>): Promise<ConnectError> {
  try {
    await within(MAX_WAIT_MS, "the call has ended", promise);
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("the call succeeded");
}

/** Sends a text of this length in the choice arguments. */
const sendText = (transport: Transport, length: number) =>
  createClient(TransferInstructionService, transport).getTransferFactory({
    registrarParty: "a",
    choiceArguments: { text: "a".repeat(length) },
  });

/** Releases all waiting handlers, so that none outlives its test. */
async function releaseAll(): Promise<void> {
  await until("no handler waits", () => {
    for (const resolve of release) resolve();
    release = [];
    return waiting === 0;
  });
}

describe.each(configurations)("$name", ({ protocol, createTransport }) => {
  let transport: Transport;
  beforeAll(() => {
    transport = createTransport(url);
  });
  const client = () => createClient(MetadataService, transport);
  const call = (registrarParty: string, options = {}) => client().getRegistryInfo({ registrarParty }, options);

  test("returns a response", async () => {
    const response = await call("acme::1220 ä 発 🎈");
    expect(response).toMatchObject({
      adminId: "acme::1220 ä 発 🎈",
      supportedApis: { "splice-api-token-metadata-v1": 1 },
    });
  });

  test("takes request headers; the response has its content type and no trailers", async () => {
    const seen: [string, Headers][] = [];
    await call("a", {
      headers: { "x-one": "1", "x-bytes-bin": "AAEC", authorization: "Bearer token" },
      onHeader: (headers: Headers) => seen.push(["header", headers]),
      onTrailer: (headers: Headers) => seen.push(["trailer", headers]),
    });
    const [header, trailer] = seen.map(([, headers]) => headers);
    expect(seen.map(([kind]) => kind)).toEqual(["header", "trailer"]);
    const type = {
      Connect: /^application\/(json|proto)$/,
      "Connect GET": /^application\/(json|proto)$/,
      gRPC: /^application\/grpc\+/,
      "gRPC-Web": /^application\/grpc-web\+/,
    };
    expect(header?.get("content-type")).toMatch(type[protocol]);
    expect(header?.has("content-encoding")).toBe(false);
    expect([...(trailer ?? [])].filter(([name]) => name !== "grpc-status")).toEqual([]);
  });

  test.each(Object.entries(reasons))("maps the domain error %s", async (reason, code) => {
    const error = await catchError(call(`reason:${reason}`));
    expect({ code: error.code, message: error.rawMessage }).toEqual({ code, message: MESSAGE });
    expect(error.metadata.get("retry-after")).toBe(reason === "unavailable" ? "1" : null);
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: infoReasons[reason], domain: "offledger" }]);
  });

  test("passes listed codes on with message and metadata, and hides all others", async () => {
    expect(codes).toHaveLength(16);
    for (const code of codes) {
      const error = await catchError(call(`code:${code}`));
      const isListed = listedCodes.has(code);
      const expected = isListed
        ? { code, message: MESSAGE, detail: "a" }
        : { code: Code.Internal, message: GENERIC, detail: null };
      const { rawMessage: message, metadata } = error;
      expect({ thrown: code, code: error.code, message, detail: metadata.get("x-detail") }).toEqual({
        thrown: code,
        ...expected,
      });
    }
  });

  test("receives large and empty responses", async () => {
    for (const length of [0, 1, 65_536, 3_000_000]) {
      expect((await call(`large:${length}`)).adminId).toHaveLength(length);
    }
  });

  test.skipIf(protocol === "Connect GET")(
    "sends a large request; one over the limit is rejected, compressed or not",
    async () => {
      expect((await sendText(transport, 1_000_000)).factoryId).toBe("1000000");
      expect((await catchError(sendText(transport, 1_100_000))).code).toBe(Code.ResourceExhausted);
      expect((await sendText(transport, 1)).factoryId).toBe("1");
    },
  );

  test("accepts the longest id, in the URL of a GET too", async () => {
    const id = "発".repeat(512);
    expect((await call(id)).adminId).toBe(id);
    expect((await catchError(call(`${id}x`))).code).toBe(Code.InvalidArgument);
  });

  test("ends at its deadline", async () => {
    const error = await catchError(call("wait", { timeoutMs: 50 }));
    expect(error.code).toBe(Code.DeadlineExceeded);
    await releaseAll();
    expect((await call("a", { timeoutMs: 20_000 })).adminId).toBe("a");
  });

  test("ends when it is cancelled, before sending and while waiting", async () => {
    const early = AbortSignal.abort();
    expect((await catchError(call("a", { signal: early }))).code).toBe(Code.Canceled);
    const cancel = new AbortController();
    const error = catchError(call("wait", { signal: cancel.signal }));
    // On a slow machine the call with a deadline of the test above may arrive after its end, too.
    await until("the call has arrived", () => waiting > 0);
    cancel.abort();
    expect((await error).code).toBe(Code.Canceled);
    await releaseAll();
    expect((await call("a")).adminId).toBe("a");
  });

  test("gets unimplemented for an unknown method", async () => {
    const { method } = MetadataService;
    const unknown = { ...method.getRegistryInfo, name: "Nothing" } as typeof method.getRegistryInfo;
    const sent = transport.unary(unknown, undefined, undefined, undefined, { registrarParty: "a" });
    expect((await catchError(sent)).code).toBe(Code.Unimplemented);
  });

  test("makes many calls concurrently", async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `call ${index}`);
    const responses = await Promise.all(
      ids.map((registrarParty) => createClient(MetadataService, transport).getRegistryInfo({ registrarParty })),
    );
    expect(responses.map(({ adminId }) => adminId)).toEqual(ids);
  });
});
