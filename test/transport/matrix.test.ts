/** Every operation of the public port, and every error, by REST, Connect, gRPC and gRPC-Web: one answer, and its exact wire form. */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { AllocationService } from "../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { BurnService } from "../../gen/offledger/burn/v0/burn_service_pb.js";
import type { AppConfig } from "../../src/config/limits.js";
import { RegistryError } from "../../src/domain/errors.js";
import { ERROR_REASONS, type ErrorReason, rejection } from "../../src/transport/errors.js";
import { createServer } from "../../src/transport/server.js";
import { nordic } from "../fixtures/calls/build.js";
import { calls, cashTransfer, failingCalls, successfulCalls } from "../fixtures/calls/index.js";
import { info, onAllocation, onIssuance, transferFactory } from "../fixtures/calls/operations.js";
import { AUDIENCE, ISSUER, JwksServer, Key, NOW } from "../fixtures/issuer.js";
import { bindPartial } from "../fixtures/partial-service.js";
import { type Call, protocols, sendRest } from "../fixtures/protocols.js";
import { contractOf } from "../fixtures/replies.js";
import {
  connectError,
  type Form,
  forms,
  framed,
  grpcError,
  type RawRequest,
  type RawResponse,
  requestForms,
  sendForm,
} from "../fixtures/requests-in-forms.js";
import { serveFile } from "../fixtures/run-service.js";
import { defective, demo, inReassignment, type ScenarioServer, unready } from "../fixtures/scenarios.js";
import { TEST_SERVER_OPTIONS } from "../fixtures/server-options.js";
import { nameOf, rpcs } from "../fixtures/services.js";
import { until } from "../fixtures/wait.js";

const everyProtocol = Object.entries(protocols);
const GENERIC = "something went wrong here; the operator's log has the details";

/** Starts a server for a group of tests. Returns its URL. */
function useServer(start: () => Promise<ScenarioServer>): () => string {
  let server: ScenarioServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());
  return () => server.url;
}

/** The rpcs of the public port that a table has no call of. */
function missing(table: readonly Call[]): string[] {
  const called = new Set(table.map(({ method }) => nameOf(method)));
  return rpcs.map(nameOf).filter((name) => !called.has(name));
}

test("the table has a call of every rpc; only the proof and pending instructions have no successful one", () => {
  expect(missing(Object.values(calls))).toEqual([]);
  expect(missing(Object.values(successfulCalls))).toEqual([
    "offledger.allocation_instruction.v2.AllocationInstructionService/GetAllocationInstructionAcceptContext",
    "offledger.allocation_instruction.v2.AllocationInstructionService/GetAllocationInstructionWithdrawContext",
    "offledger.transfer.v0.TransferService/VerifyTransferProof",
  ]);
  expect(Object.keys(calls)).toHaveLength(Object.keys(successfulCalls).length + Object.keys(failingCalls).length);
});

async function sendAll(url: string, call: Call) {
  const found = everyProtocol.map(async ([name, send]) => [name, await send(url, call)] as const);
  return Object.fromEntries(await Promise.all(found));
}
const byAll = (outcome: unknown) => Object.fromEntries(everyProtocol.map(([name]) => [name, outcome]));

describe("on the demo registry", () => {
  const url = useServer(demo);

  test.each(Object.entries(successfulCalls))("%s: the same answer, and the same text of JSON", async (_name, call) => {
    const response = await sendRest(url(), call);
    const text = await response.text();
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(await sendAll(url(), call)).toEqual(byAll({ ok: true, answer: JSON.parse(text) as JsonValue }));
    const connect = await sendForm(url(), "Connect JSON", requestForms["Connect JSON"](call));
    expect(connect.body.toString()).toBe(text);
  });

  test.each(Object.entries(failingCalls))("%s: the same error", async (_name, call) => {
    const found = await sendAll(url(), call);
    expect(found["REST"]).toMatchObject({ ok: false });
    expect(found).toEqual(byAll(found["REST"]));
  });
});

describe("during reassignment of every contract", () => {
  const url = useServer(inReassignment);
  test.each(Object.entries(calls))("%s: the same outcome", async (_name, call) => {
    const found = await sendAll(url(), call);
    expect(found).toEqual(byAll(found["REST"]));
  });
  test("a choice is a conflict", async () => {
    const { "v2 transfer instruction, accept": call = cashTransfer } = calls;
    expect(await protocols["REST"]?.(url(), call)).toMatchObject({ code: Code.Aborted });
  });
});

const unavailable = (message: unknown) => ({ ok: false, code: Code.Unavailable, message });

describe("before the first snapshot", () => {
  const url = useServer(unready);
  const reason = "no snapshot of the ledger has been taken yet";
  const others: Readonly<Record<string, unknown>> = {
    liveness: { ok: true, answer: { status: "ok" } },
    // It names what keeps the mirror from the ledger.
    readiness: unavailable(expect.stringContaining(`not ready: ${reason}`)),
    "the OpenAPI document": expect.objectContaining({ ok: true }),
    "a proof from a file": unavailable("the ledger cannot be asked for its updates now"),
    "an instrument that does not exist": unavailable(reason),
    // Malformed requests are rejected first.
    "a page of no instruments": expect.objectContaining({ code: Code.InvalidArgument }),
  };
  test.each([...new Set([...Object.keys(successfulCalls), ...Object.keys(others)])])("%s", async (name) => {
    const call = calls[name];
    if (call === undefined) throw new Error(`no call ${name}`);
    expect(await sendAll(url(), call)).toEqual(byAll(others[name] ?? unavailable(reason)));
  });
});

test("a defect of any operation is internal, and its cause is hidden", async () => {
  const server = await defective();
  onTestFinished(() => server.close());
  for (const [name, call] of Object.entries(successfulCalls)) {
    const outcome = { ok: false, code: Code.Internal, message: GENERIC };
    expect({ name, ...(await sendAll(server.url, call)) }).toEqual({ name, ...byAll(outcome) });
  }
});

const MESSAGE = 'what is wrong: ä, 発, %, "" — and more';
const ENCODED = 'what is wrong: %C3%A4, %E7%99%BA, %25, "" %E2%80%94 and more';

/** By reason: the code of gRPC, its name in Connect, the status of Connect, and that of REST. Written by hand. */
const reasons: Readonly<Record<ErrorReason, readonly [code: number, name: string, connect: number, rest: number]>> = {
  MALFORMED_MESSAGE: [3, "invalid_argument", 400, 400],
  INVALID_FIELD: [3, "invalid_argument", 400, 400],
  ARGUMENTS_TOO_COMPLEX: [3, "invalid_argument", 400, 400],
  INVALID_ARGUMENT: [3, "invalid_argument", 400, 400],
  MALFORMED_URL: [3, "invalid_argument", 400, 400],
  PATH_TOO_LONG: [3, "invalid_argument", 400, 414],
  PROTOCOL_ERROR: [3, "invalid_argument", 400, 400],
  TOKEN_MISSING: [16, "unauthenticated", 401, 401],
  TOKEN_INVALID: [16, "unauthenticated", 401, 401],
  ACCESS_DENIED: [7, "permission_denied", 403, 403],
  NOT_FOUND: [5, "not_found", 404, 404],
  CONFLICT: [10, "aborted", 409, 409],
  UNSUPPORTED: [12, "unimplemented", 501, 501],
  UNKNOWN_OPERATION: [12, "unimplemented", 501, 404],
  TOO_MANY_STREAMS: [8, "resource_exhausted", 429, 429],
  TOO_MANY_MESSAGES: [8, "resource_exhausted", 429, 429],
  BODY_TOO_LARGE: [8, "resource_exhausted", 429, 413],
  DEADLINE_EXCEEDED: [4, "deadline_exceeded", 504, 504],
  NOT_READY: [14, "unavailable", 503, 503],
  OVERLOADED: [14, "unavailable", 503, 503],
  SHUTTING_DOWN: [14, "unavailable", 503, 503],
  STREAM_EXPIRED: [14, "unavailable", 503, 503],
  ISSUER_UNAVAILABLE: [14, "unavailable", 503, 503],
  INTERNAL: [13, "internal", 500, 500],
};
type Row = (typeof reasons)[ErrorReason];

/** An error as it is on the wire, with what its form is known by. */
function seen(form: Form, response: RawResponse): object {
  const { status, headers, body, endsStream } = response;
  const shape = { contentType: headers["content-type"], endsStream, requestId: headers["x-request-id"] };
  if (form === "REST") {
    return { ...shape, status, retryAfter: headers["retry-after"], body: JSON.parse(body.toString()) as unknown };
  }
  return { ...shape, ...(form.startsWith("Connect") ? connectError(response) : grpcError(response)) };
}

interface Told {
  readonly message: unknown;
  readonly retryAfter?: string | undefined;
  /** Of google.rpc.ErrorInfo. */
  readonly info: object;
  readonly violation?: readonly [field: string, description: string] | undefined;
  /** In the body of a utility operation. */
  readonly utility?: string;
}
function expected(
  form: Form,
  [code, name, connect, rest]: Row,
  { message, retryAfter, info: told, violation, utility }: Told,
) {
  const common = { retryAfter, requestId: expect.stringMatching(/./) as string };
  if (form === "REST") {
    const body = utility === undefined ? { error: message } : { error: utility, error_description: message };
    return { ...common, contentType: "application/json; charset=utf-8", endsStream: false, status: rest, body };
  }
  const fieldViolations = violation === undefined ? [] : [{ field: violation[0], description: violation[1] }];
  const details = {
    "google.rpc.ErrorInfo": { domain: "offledger", ...told },
    ...(retryAfter !== undefined && { "google.rpc.RetryInfo": { retryDelay: { seconds: Number(retryAfter) } } }),
    ...(violation !== undefined && { "google.rpc.BadRequest": { fieldViolations } }),
  };
  const error = { ...common, message, details, endsStream: false };
  if (form.startsWith("Connect")) return { ...error, contentType: "application/json", status: connect, code: name };
  const ofGrpc = { ...error, status: 200, code: String(code) };
  if (form === "gRPC-Web") return { ...ofGrpc, contentType: "application/grpc-web+proto" };
  // One HEADERS frame with END_STREAM: grpc-go, grpc-java, grpcio and grpc-js lose the status of any other form.
  return { ...ofGrpc, contentType: "application/grpc+proto", endsStream: true };
}

describe("what an operation throws", () => {
  const withdraw = onAllocation("v1", "withdraw", "00", "r");
  const utility = onIssuance("burn", "offer", "cancel", "00");
  let thrown: Error;
  const fail = () => Promise.reject(thrown);
  const url = useServer(async () => {
    const bindings = [
      bindPartial(AllocationService, { getAllocationWithdrawContext: fail }),
      bindPartial(BurnService, { getBurnOfferCancelContext: fail }),
    ];
    const server = await createServer(bindings, TEST_SERVER_OPTIONS);
    return { url: await server.listen("127.0.0.1", 0), close: () => server.close(1_000) };
  });

  test("the table has every reason", () => {
    expect(Object.keys(reasons)).toEqual(Object.keys(ERROR_REASONS));
  });

  const cases = Object.entries(reasons).flatMap(([reason, row]) => forms.map((form) => ({ reason, row, form })));
  test.each(cases)("$reason over $form", async ({ reason, row, form }) => {
    const isDefect = reason === "INTERNAL";
    const violations = [{ field: "a_b", description: "wrong" }];
    thrown = isDefect
      ? new Error("secret")
      : rejection(reason as ErrorReason, MESSAGE, { retrySeconds: 7, violations });
    const told: Told = isDefect
      ? { message: GENERIC, info: { reason } }
      : { message: MESSAGE, info: { reason }, retryAfter: "7", violation: ["a_b", "wrong"] };
    const response = await sendForm(url(), form, requestForms[form](withdraw));
    expect(seen(form, response)).toEqual(expected(form, row, told));
    const ofUtility = await sendForm(url(), "REST", requestForms.REST(utility));
    const name = isDefect ? "unknown_error" : row[1];
    expect(seen("REST", ofUtility)).toEqual(expected("REST", row, { ...told, utility: name }));
  });

  test("grpc-message has printable ASCII as it is", async () => {
    thrown = rejection("NOT_FOUND", MESSAGE);
    const response = await sendForm(url(), "gRPC", requestForms.gRPC(withdraw));
    expect(response.headers["grpc-message"]).toBe(ENCODED);
  });

  const refusals = [
    ["invalid", "INVALID_ARGUMENT", undefined],
    ["not-found", "NOT_FOUND", undefined],
    ["conflict", "CONFLICT", undefined],
    ["unavailable", "NOT_READY", "1"],
    ["unsupported", "UNSUPPORTED", undefined],
  ] as const;
  test.each(refusals)("a refusal of the rules as %s is %s", async (kind, reason, retryAfter) => {
    thrown = new RegistryError(kind, MESSAGE);
    for (const form of forms) {
      const response = await sendForm(url(), form, requestForms[form](withdraw));
      const told = { message: MESSAGE, info: { reason }, retryAfter };
      expect(seen(form, response)).toEqual(expected(form, reasons[reason], told));
    }
  });

  test("a response that cannot be encoded is a defect", async () => {
    // The rules never disclose a contract in reassignment.
    const contract = contractOf({ contractId: "secret-contract", payload: {}, blob: "AAAA", synchronizer: "a" });
    const reply = { values: [], disclosed: [{ ...contract, synchronizerId: undefined }] };
    const server = await createServer(
      [bindPartial(AllocationService, { getAllocationWithdrawContext: async () => reply })],
      TEST_SERVER_OPTIONS,
    );
    onTestFinished(() => server.close(1_000));
    const outcomes = await sendAll(await server.listen("127.0.0.1", 0), withdraw);
    expect(outcomes).toEqual(byAll({ ok: false, code: Code.Internal, message: GENERIC }));
  });
});

const factory = (choiceArguments: JsonObject) => transferFactory("v1", { choiceArguments }, nordic);
const withHeaders = (make: () => Promise<Record<string, string>>) => async (request: RawRequest) => ({
  ...request,
  headers: { ...request.headers, ...(await make()) },
});
const garbage = (form: Form) =>
  /JSON|REST/.test(form) ? Buffer.from("{") : form === "Connect binary" ? Buffer.of(0x0f) : framed(Buffer.of(0x0f));

describe("what is rejected before an operation", () => {
  const key = Key.make("first", "ES256");
  const urls = { plain: "", guarded: "", withoutKeys: "", unready: "" };
  const stops: (() => Promise<void>)[] = [];
  const bearer = async (more?: { readonly exp: number }) => ({
    authorization: `Bearer ${await (await key).sign(more)}`,
  });

  beforeAll(async () => {
    const serve = async (config: Partial<AppConfig>) => {
      const running = await serveFile(undefined, { config, now: NOW });
      stops.push(() => running.close());
      return running.url;
    };
    const publisher = new JwksServer([await key]);
    await publisher.open();
    const auth = { authJwksUrl: publisher.url, authIssuer: ISSUER, authAudience: AUDIENCE, authAlgorithms: ["ES256"] };
    urls.plain = await serve({ maxArgumentKeys: 10, maxBodyBytes: 1_024, maxPathBytes: 1_024 });
    urls.guarded = await serve(auth);
    const operator = `${urls.guarded}/api/utilities/v0/operator`;
    await until("it has the keys", async () => (await fetch(operator, { headers: await bearer() })).ok);
    await publisher.close();
    urls.withoutKeys = await serve(auth);
    const server = await unready();
    stops.push(() => server.close());
    urls.unready = server.url;
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  interface Rejection {
    readonly reason: string;
    /** A part of it. */
    readonly message: string;
    readonly at?: keyof typeof urls;
    readonly call: Call;
    readonly change?: (request: RawRequest, form: Form) => RawRequest | Promise<RawRequest>;
    readonly retryAfter?: string;
    readonly violation?: readonly [field: string, description: string];
    readonly metadata?: Readonly<Record<string, string>>;
    /** The row of the table, for a reason of the rules. */
    readonly as?: ErrorReason;
    /** Undefined: all. */
    readonly forms?: readonly Form[];
  }
  const withBody = forms.filter((form) => form !== "Connect GET");

  const rows: readonly Rejection[] = [
    {
      at: "guarded",
      call: info(nordic),
      reason: "TOKEN_MISSING",
      message: "bearer token required in the Authorization header",
    },
    {
      at: "guarded",
      call: info(nordic),
      change: withHeaders(() => bearer({ exp: 1 })),
      reason: "TOKEN_INVALID",
      message: "token expired",
    },
    {
      at: "withoutKeys",
      call: info(nordic),
      change: withHeaders(bearer),
      reason: "ISSUER_UNAVAILABLE",
      message: "keys of its issuer are unavailable",
      retryAfter: "5",
    },
    { at: "unready", call: info(nordic), reason: "NOT_READY", message: "no snapshot of the ledger", retryAfter: "1" },
    {
      call: onAllocation("v1", "withdraw", "00ab", nordic),
      reason: "INSTRUCTION_UNKNOWN",
      as: "NOT_FOUND",
      message: `allocation 00ab of registrar ${nordic}`,
      metadata: { registrar: nordic, contractId: "00ab" },
    },
    {
      call: info("r".repeat(513)),
      reason: "INVALID_FIELD",
      message: "registrarParty: must be at most 512 characters",
      violation: ["registrar_party", "must be at most 512 characters"],
    },
    {
      call: factory({ transfer: { instrumentId: { id: "NOK-CASH", admin: 5 } } }),
      reason: "INVALID_ARGUMENT",
      message: "choiceArguments.transfer.instrumentId.admin must be a string, but is 5",
      violation: ["choice_arguments.transfer.instrumentId.admin", "must be a string, but is 5"],
    },
    {
      call: factory({ a: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }),
      reason: "ARGUMENTS_TOO_COMPLEX",
      message: "choiceArguments has more keys and elements than the limit of 10",
      violation: ["choice_arguments", "has more keys and elements than the limit of 10"],
    },
    {
      call: factory({ transfer: "x".repeat(2_000) }),
      forms: withBody,
      reason: "BODY_TOO_LARGE",
      message: "the message is larger than 1024 bytes, the limit of this service",
    },
    {
      call: factory({}),
      // Not where connect-es decodes a message.
      forms: ["REST", "Connect JSON", "Connect JSON with a deadline", "Connect binary", "gRPC"],
      change: (request, form) => ({ ...request, body: garbage(form) }),
      reason: "MALFORMED_MESSAGE",
      message: "",
    },
    {
      call: info(nordic),
      change: (request) => ({
        ...request,
        path: `${request.path}${request.path.includes("?") ? "&" : "?"}`.padEnd(1_025, "a"),
      }),
      reason: "PATH_TOO_LONG",
      message: "path of 1025 bytes exceeds the limit of 1024 bytes",
    },
    {
      call: info(nordic),
      forms: ["gRPC", "gRPC with a deadline"],
      change: (request) => ({ ...request, path: "/somebody.Else/Nothing" }),
      reason: "UNKNOWN_OPERATION",
      message: "no operation somebody.Else/Nothing",
    },
  ];

  test.each(
    rows.flatMap((row) => (row.forms ?? forms).map((form) => ({ title: `${row.reason} over ${form}`, row, form }))),
  )("$title", async ({ row, form }) => {
    const {
      at = "plain",
      call,
      change = (request: RawRequest) => request,
      reason,
      retryAfter,
      violation,
      metadata,
    } = row;
    const response = await sendForm(urls[at], form, await change(requestForms[form](call), form));
    const message = expect.stringContaining(row.message) as string;
    const told = { message, retryAfter, violation, info: { reason, ...(metadata && { metadata }) } };
    expect(seen(form, response)).toEqual(expected(form, reasons[row.as ?? (reason as ErrorReason)], told));
  });
});
