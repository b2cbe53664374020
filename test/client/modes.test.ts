/**
 * What the conformance suite of Connect asks of a server, as far as unary rpcs
 * go, with the client of connect-es in all its modes. Answers and errors of every
 * operation are compared in matrix.test.ts; here handlers end as a test says.
 */
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MetadataService } from "../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { TransferInstructionService } from "../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { RegistryError } from "../../src/domain/errors.js";
import { createServer, type Server } from "../../src/transport/server.js";
import { offerSome } from "../fixtures/offering.js";
import { until, within } from "../fixtures/wait.js";
import { modes } from "./modes.js";
import { defaultOptions } from "../fixtures/server-options.js";

const reasons = {
  invalid: Code.InvalidArgument,
  "not-found": Code.NotFound,
  conflict: Code.Aborted,
  unavailable: Code.Unavailable,
} as const;

/** Words with characters that headers do not take as they are. */
const SAYS = 'what is wrong: ä, 発, %, "" — and more';
const GENERIC = "something went wrong here; the operator's log has the details";

/** The codes that the table of the service has; of any other an error is a defect. */
const told = new Set<Code>([
  Code.InvalidArgument,
  Code.DeadlineExceeded,
  Code.NotFound,
  Code.PermissionDenied,
  Code.ResourceExhausted,
  Code.Aborted,
  Code.Unavailable,
  Code.Unauthenticated,
]);
const codes = Object.values(Code).filter((code) => typeof code === "number");

function codeOf(number: string): Code {
  const code = codes.find((one) => String(one) === number);
  if (code === undefined) throw new Error(`${number} is no code`);
  return code;
}

let waiting = 0;
let release: (() => void)[] = [];

/** Ends as the id says: with an error, not before it is let go, or with an answer of so many characters. */
async function ending(id: string) {
  const [kind = "", value = ""] = id.split(":");
  if (kind === "reason") throw new RegistryError(value as keyof typeof reasons, SAYS);
  if (kind === "code") throw new ConnectError(SAYS, codeOf(value), { "x-detail": "a" });
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
    offerSome(MetadataService, { getRegistryInfo: ({ registrarParty }) => ending(registrarParty) }),
    // Choice arguments may be large; the id is the length of a text in them.
    offerSome(TransferInstructionService, {
      getTransferFactory: async ({ choiceArguments }) => ({
        factoryId: String(JSON.stringify(choiceArguments?.["text"]).length - 2),
      }),
    }),
  ];
  server = await createServer(bindings, defaultOptions);
  url = await server.listen("127.0.0.1", 0);
});
afterAll(() => server.close(1_000));

async function errorOf(promise: Promise<unknown>): Promise<ConnectError> {
  try {
    await within(10_000, "the call has ended", promise);
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("the call was answered");
}

/** A request with so long a text in its choice arguments. */
const sendText = (transport: Transport, length: number) =>
  createClient(TransferInstructionService, transport).getTransferFactory({
    registrarParty: "a",
    choiceArguments: { text: "a".repeat(length) },
  });

/** Lets go of all that waits, so that nothing of a test is left behind it. */
async function letGo(): Promise<void> {
  for (const resolve of release) resolve();
  release = [];
  await until("nothing waits any more", () => waiting === 0);
}

describe.each(modes)("$name", ({ protocol, isGet, transportTo }) => {
  let transport: Transport;
  beforeAll(() => {
    transport = transportTo(url);
  });
  const client = () => createClient(MetadataService, transport);
  const ask = (registrarParty: string, options = {}) => client().getRegistryInfo({ registrarParty }, options);

  test("is answered", async () => {
    const answer = await ask("acme::1220 ä 発 🎈");
    expect(answer).toMatchObject({
      adminId: "acme::1220 ä 発 🎈",
      supportedApis: { "splice-api-token-metadata-v1": 1 },
    });
  });

  test("is answered behind headers of its own, with headers of one kind and no trailers", async () => {
    const seen: [string, Headers][] = [];
    await ask("a", {
      headers: { "x-one": "1", "x-bytes-bin": "AAEC", authorization: "Bearer token" },
      onHeader: (headers: Headers) => seen.push(["header", headers]),
      onTrailer: (headers: Headers) => seen.push(["trailer", headers]),
    });
    const [header, trailer] = seen.map(([, headers]) => headers);
    expect(seen.map(([kind]) => kind)).toEqual(["header", "trailer"]);
    const type = {
      Connect: /^application\/(json|proto)$/,
      gRPC: /^application\/grpc\+/,
      "gRPC-Web": /^application\/grpc-web\+/,
    };
    expect(header?.get("content-type")).toMatch(type[protocol]);
    expect(header?.has("content-encoding")).toBe(false);
    expect([...(trailer ?? [])].filter(([name]) => name !== "grpc-status")).toEqual([]);
  });

  test.each(Object.entries(reasons))("is told that it is %s", async (reason, code) => {
    const error = await errorOf(ask(`reason:${reason}`));
    expect({ code: error.code, says: error.rawMessage }).toEqual({ code, says: SAYS });
    expect(error.metadata.get("retry-after")).toBe(reason === "unavailable" ? "1" : null);
    expect(error.details).toEqual([]);
  });

  test("is told every code: those of the table with their words and metadata, the others as a defect", async () => {
    expect(codes).toHaveLength(16);
    for (const code of codes) {
      const error = await errorOf(ask(`code:${code}`));
      const isTold = told.has(code);
      const expected = isTold
        ? { code, says: SAYS, detail: "a" }
        : { code: Code.Internal, says: GENERIC, detail: null };
      const { rawMessage: says, metadata } = error;
      expect({ asked: code, code: error.code, says, detail: metadata.get("x-detail") }).toEqual({
        asked: code,
        ...expected,
      });
    }
  });

  test("takes a large answer, and one that is empty", async () => {
    for (const length of [0, 1, 65_536, 3_000_000]) {
      expect((await ask(`large:${length}`)).adminId).toHaveLength(length);
    }
  });

  test.skipIf(isGet)("sends a large request, and is refused one that is too large even when compressed", async () => {
    expect((await sendText(transport, 1_000_000)).factoryId).toBe("1000000");
    expect((await errorOf(sendText(transport, 1_100_000))).code).toBe(Code.ResourceExhausted);
    expect((await sendText(transport, 1)).factoryId).toBe("1");
  });

  test("may be as long as its rules allow, in the URL of a GET too", async () => {
    const id = "発".repeat(512);
    expect((await ask(id)).adminId).toBe(id);
    expect((await errorOf(ask(`${id}x`))).code).toBe(Code.InvalidArgument);
  });

  test("is over at its deadline", async () => {
    const error = await errorOf(ask("wait", { timeoutMs: 50 }));
    expect(error.code).toBe(Code.DeadlineExceeded);
    await letGo();
    expect((await ask("a", { timeoutMs: 20_000 })).adminId).toBe("a");
  });

  test("is over when it is cancelled, before it is sent and while it waits", async () => {
    const early = AbortSignal.abort();
    expect((await errorOf(ask("a", { signal: early }))).code).toBe(Code.Canceled);
    const cancel = new AbortController();
    const error = errorOf(ask("wait", { signal: cancel.signal }));
    await until("the call has arrived", () => waiting === 1);
    cancel.abort();
    expect((await error).code).toBe(Code.Canceled);
    await letGo();
    expect((await ask("a")).adminId).toBe("a");
  });

  test("is told that what is not served is not implemented", async () => {
    const { method } = MetadataService;
    const none = { ...method.getRegistryInfo, name: "Nothing" } as typeof method.getRegistryInfo;
    const sent = transport.unary(none, undefined, undefined, undefined, { registrarParty: "a" });
    expect((await errorOf(sent)).code).toBe(Code.Unimplemented);
  });

  test("has many calls at the same time", async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `call ${index}`);
    const answers = await Promise.all(
      ids.map((registrarParty) => createClient(MetadataService, transport).getRegistryInfo({ registrarParty })),
    );
    expect(answers.map(({ adminId }) => adminId)).toEqual(ids);
  });
});
