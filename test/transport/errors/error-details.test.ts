/** The details of google.rpc on refused calls, as clients of several kinds decode them. */
import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { party } from "../../../demo/element.js";
import { AllocationService } from "../../../gen/offledger/allocation/v1/allocation_service_pb.js";
import { MetadataService } from "../../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { TransferInstructionService } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import type { Config } from "../../../src/config/config.js";
import { notFound, RegistryError, unavailable } from "../../../src/domain/errors.js";
import { createServer } from "../../../src/transport/server.js";
import { type Refusal, type RefusedCall, refusedCalls, type RpcCall } from "../../fixtures/error-details.js";
import { AUDIENCE, ISSUER, JwksServer, Key, NOW } from "../../fixtures/issuer.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { serveFile } from "../../fixtures/run-service.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";
import { until } from "../../fixtures/wait.js";

const nordic = party("nordic-registrar");

const registryInfo: RpcCall = {
  method: MetadataService.method.getRegistryInfo,
  request: { registrarParty: nordic },
};

const transfer = (choiceArguments: RpcCall["request"]): RpcCall => ({
  method: TransferInstructionService.method.getTransferFactory,
  request: { registrarParty: nordic, choiceArguments },
});

const withdraw = (allocationId: string): RpcCall => ({
  method: AllocationService.method.getAllocationWithdrawContext,
  request: { registrarParty: nordic, allocationId },
});

async function startService(config: Partial<Config> = {}): Promise<string> {
  const running = await serveFile(undefined, { config, now: NOW });
  stops.push(() => running.close());
  return running.url;
}

/** Starts a server with one operation. */
async function startServer(withdrawContext: () => Promise<never>, maxDelayMs: number): Promise<string> {
  const binding = bindPartial(AllocationService, { getAllocationWithdrawContext: withdrawContext });
  const { middleware } = TEST_SERVER_OPTIONS;
  const server = await createServer([binding], { ...TEST_SERVER_OPTIONS, middleware: { ...middleware, maxDelayMs } });
  stops.push(() => server.close(1_000));
  return server.listen("127.0.0.1", 0);
}

const stops: (() => Promise<void>)[] = [];
const key = await Key.make("first", "ES256");
/** What the operation of `throwing` throws. */
let thrown: unknown;
let [url, limited, guarded, guardedWithoutKeys, throwing, busy] = ["", "", "", "", "", ""];

beforeAll(async () => {
  url = await startService({ maxArgumentKeys: 10, maxBodyBytes: 1_024 });
  limited = await startService({ ratePerClient: 1 });
  const issuer = new JwksServer([key]);
  await issuer.open();
  const auth = { authJwksUrl: issuer.url, authIssuer: ISSUER, authAudience: AUDIENCE, authAlgorithms: ["ES256"] };
  guarded = await startService(auth);
  await until("the service has the keys", async () => {
    const authorization = `Bearer ${await key.sign()}`;
    return (await refusedCalls["Connect by fetch"]?.(guarded, registryInfo, authorization)) === undefined;
  });
  await issuer.close();
  guardedWithoutKeys = await startService(auth);
  throwing = await startServer(() => Promise.reject(thrown), 0);
  busy = await startServer(async () => {
    const end = performance.now() + 10;
    while (performance.now() < end);
    throw notFound("served");
  }, 5);
});
afterAll(async () => {
  for (const stop of stops) await stop();
});

/** Repeats bursts of calls until one is refused. */
async function firstRefusal(call: () => Promise<Refusal | undefined>, reason: string, burst = 1): Promise<Refusal> {
  for (let attempt = 0; attempt < 50; attempt++) {
    // oxlint-disable-next-line no-await-in-loop
    const results = await Promise.all(Array.from({ length: burst }, call));
    const refusal = results.find((result) => result !== undefined && result.reason === reason);
    if (refusal !== undefined) return refusal;
  }
  throw new Error(`no call was refused as ${reason}`);
}

const expected = (code: status, message: RegExp, reason: string, more: Partial<Refusal> = {}) => ({
  code,
  message: expect.stringMatching(message) as string,
  reason,
  domain: "offledger",
  metadata: {},
  retryAfter: undefined,
  retrySeconds: undefined,
  violations: [],
  ...more,
});

describe.each(Object.entries(refusedCalls))("%s", (_name, call: RefusedCall) => {
  test("gets the reason of a missing and of an invalid token", async () => {
    expect(await call(guarded, registryInfo)).toEqual(
      expected(status.UNAUTHENTICATED, /^bearer token required/, "TOKEN_MISSING"),
    );
    expect(await call(guarded, registryInfo, "Bearer x.y.z")).toEqual(
      expected(status.UNAUTHENTICATED, /^token is not a valid signed JWT/, "TOKEN_INVALID"),
    );
    expect(await call(guarded, registryInfo, `Bearer ${await key.sign({ exp: 1 })}`)).toEqual(
      expected(status.UNAUTHENTICATED, /^token expired/, "TOKEN_INVALID"),
    );
    expect(await call(guarded, registryInfo, `Bearer ${await key.sign()}`)).toBeUndefined();
  });

  test("gets the time to wait while the issuer is away", async () => {
    const retry = { retryAfter: "5", retrySeconds: 5 };
    expect(await call(guardedWithoutKeys, registryInfo, `Bearer ${await key.sign()}`)).toEqual(
      expected(status.UNAVAILABLE, /keys of its issuer are unavailable/, "ISSUER_UNAVAILABLE", retry),
    );
  });

  test("gets the time to wait at a rate limit", async () => {
    const refusal = await firstRefusal(() => call(limited, registryInfo), "RATE_LIMITED", 3);
    const retry = { retryAfter: "1", retrySeconds: 1 };
    expect(refusal).toEqual(expected(status.RESOURCE_EXHAUSTED, /^rate limit exceeded: 1 /, "RATE_LIMITED", retry));
  });

  test("gets the time to wait in an overload", async () => {
    const refusal = await firstRefusal(() => call(busy, withdraw("00")), "OVERLOADED", 5);
    const retry = { retryAfter: "1", retrySeconds: 1 };
    expect(refusal).toEqual(expected(status.UNAVAILABLE, /^server overloaded/, "OVERLOADED", retry));
  });

  test("gets the time to wait while the registry cannot answer", async () => {
    thrown = unavailable("no snapshot of the ledger has been read yet");
    const retry = { retryAfter: "1", retrySeconds: 1 };
    expect(await call(throwing, withdraw("00"))).toEqual(
      expected(status.UNAVAILABLE, /^no snapshot of the ledger has been read yet$/, "NOT_READY", retry),
    );
  });

  test("gets the reason of a contract that is not known", async () => {
    expect(await call(url, withdraw("00ab"))).toEqual(
      expected(status.NOT_FOUND, /^allocation 00ab of registrar nordic/, "INSTRUCTION_UNKNOWN", {
        metadata: { registrar: nordic, contractId: "00ab" },
      }),
    );
  });

  test("gets the fields that violate the constraints of the proto files", async () => {
    const request = { registrarParty: "", allocationId: "" };
    const message = /^registrarParty: .*; allocationId: /;
    const violations = ["registrar_party", "allocation_id"].map((field) => ({
      field,
      description: expect.stringMatching(/^must be at least 1 character/) as string,
    }));
    expect(await call(url, { ...withdraw(""), request })).toEqual(
      expected(status.INVALID_ARGUMENT, message, "INVALID_FIELD", { violations }),
    );
  });

  test("gets the wrong field of the choice arguments", async () => {
    const party5 = { transfer: { instrumentId: { id: "NOK-CASH", admin: 5 } } };
    expect(await call(url, transfer(party5))).toEqual(
      expected(status.INVALID_ARGUMENT, /^choiceArguments\.transfer\.instrumentId\.admin must be/, "INVALID_ARGUMENT", {
        violations: [
          {
            field: "choice_arguments.transfer.instrumentId.admin",
            description: "must be a string, but is 5",
          },
        ],
      }),
    );
  });

  test("gets the limit that the choice arguments exceed", async () => {
    const problem = "has more keys and elements than the limit of 10";
    expect(await call(url, transfer({ a: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }))).toEqual(
      expected(status.INVALID_ARGUMENT, new RegExp(`^choiceArguments ${problem}$`), "ARGUMENTS_TOO_COMPLEX", {
        violations: [{ field: "choice_arguments", description: problem }],
      }),
    );
  });

  test("gets the reason of a body that is too large", async () => {
    const refusal = await call(url, withdraw("a".repeat(2_000)));
    expect(refusal).toEqual(expected(status.RESOURCE_EXHAUSTED, /larger than/, "BODY_TOO_LARGE"));
  });

  test("gets the code and metadata of the registry", async () => {
    const details = { code: "BLOCKLIST_MISSING", metadata: { instrument: "NOK-CASH", "not allowed!": "x" } };
    thrown = new RegistryError("invalid", "no blocklist", details);
    expect(await call(throwing, withdraw("00"))).toEqual(
      expected(status.INVALID_ARGUMENT, /^no blocklist$/, "BLOCKLIST_MISSING", {
        metadata: { instrument: "NOK-CASH" },
      }),
    );
  });

  test("learns nothing of a defect", async () => {
    thrown = new Error("SELECT secret");
    expect(await call(throwing, withdraw("00"))).toEqual(
      expected(status.INTERNAL, /^something went wrong here/, "INTERNAL"),
    );
  });
});
