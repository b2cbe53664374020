/** Every operation over every protocol: equal responses and equal errors. */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { calls, callsWithoutCredential, failingCalls, successfulCalls } from "./fixtures/calls/index.js";
import { acme, alice, bob } from "./fixtures/calls/build.js";
import { instruments } from "./fixtures/calls/metadata.js";
import { factoryV1, transferV1 } from "./fixtures/calls/transfer-instruction.js";
import { type Call, protocols, sendRest } from "./fixtures/protocols.js";
import { nameOf, rpcs } from "./fixtures/services.js";
import {
  defective,
  demo,
  demoRequiringCredentials,
  inReassignment,
  type ScenarioServer,
  unready,
} from "./fixtures/scenarios.js";
import { within } from "./fixtures/wait.js";

const everyProtocol = Object.entries(protocols);

/** Starts a server for a group of tests. Returns its URL. */
function useServer(start: () => Promise<ScenarioServer>): () => string {
  let server: ScenarioServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());
  return () => server.url;
}

async function callRest(url: string, call: Call): Promise<JsonValue> {
  const response = await sendRest(url, call);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`REST returned ${response.status}: ${text}`);
  return JSON.parse(text) as JsonValue;
}

/** Returns the JSON text of a Connect response. */
async function fetchConnectText(url: string, { method, request }: Call): Promise<string> {
  const headers = { "content-type": "application/json" };
  const procedure = `${url}/${nameOf(method)}`;
  const response = await fetch(procedure, { method: "POST", headers, body: JSON.stringify(request) });
  return response.text();
}

/** The served rpcs that a table has no call of. */
const findMissing = (table: readonly Call[]) => {
  const called = new Set(table.map(({ method }) => nameOf(method)));
  return rpcs.map(nameOf).filter((name) => !called.has(name));
};

describe("the table of calls", () => {
  test("covers every rpc; only the proof and pending instructions have no successful call", () => {
    expect(rpcs).toHaveLength(47);
    expect(findMissing(Object.values(calls))).toEqual([]);
    expect(findMissing(Object.values(successfulCalls))).toEqual([
      "offledger.allocation_instruction.v2.AllocationInstructionService/GetAllocationInstructionAcceptContext",
      "offledger.allocation_instruction.v2.AllocationInstructionService/GetAllocationInstructionWithdrawContext",
      "offledger.transfer.v0.TransferService/VerifyTransferProof",
    ]);
  });

  test("has unique names", () => {
    expect(Object.keys(calls)).toHaveLength(Object.keys(successfulCalls).length + Object.keys(failingCalls).length);
  });

  test("has every error code of the demo registry", () => {
    const codes = new Set(Object.values(failingCalls).map(({ code }) => code));
    expect(codes).toEqual(new Set([Code.InvalidArgument, Code.NotFound, Code.Aborted]));
  });
});

describe("a response", () => {
  const url = useServer(demo);

  describe.each(Object.entries(successfulCalls))("%s", (_name, call) => {
    let restResponse: JsonValue;
    beforeAll(async () => {
      restResponse = await callRest(url(), call);
    });

    test.each(everyProtocol)("is the same over %s", async (_protocol, send) => {
      expect(await send(url(), call)).toEqual({ ok: true, answer: restResponse });
    });

    test("has the same JSON text over REST and Connect", async () => {
      const response = await sendRest(url(), call);
      expect(await response.text()).toBe(await fetchConnectText(url(), call));
    });
  });

  test.each(everyProtocol)("v1 instruments, the second page, is the same over %s", async (_protocol, send) => {
    const first = (await callRest(url(), instruments(acme, { pageSize: 1 }))) as JsonObject;
    const second = instruments(acme, { pageSize: 1, pageToken: first["nextPageToken"] as string });
    const outcome = await send(url(), second);
    expect(outcome).toEqual({ ok: true, answer: await callRest(url(), second) });
    expect(outcome).toMatchObject({ answer: { instruments: [{ id: "ACME-EUR" }] } });
    expect(outcome).not.toHaveProperty("answer.nextPageToken");
  });
});

describe("an error", () => {
  const url = useServer(demo);

  describe.each(Object.entries(failingCalls))("%s", (_name, { call, code, message }) => {
    test.each(everyProtocol)("is the same over %s", async (_protocol, send) => {
      expect(await send(url(), call)).toEqual({ ok: false, code, message });
    });
  });
});

describe("where credentials are required, an error", () => {
  const url = useServer(demoRequiringCredentials);

  describe.each(Object.entries(callsWithoutCredential))("%s", (_name, { call, code, message }) => {
    test.each(everyProtocol)("is the same over %s", async (_protocol, send) => {
      expect(await send(url(), call)).toEqual({ ok: false, code, message });
    });
  });
});

/** Makes every call over one protocol. Returns the outcomes by the names of the calls. */
async function callAll(url: string, send: (typeof protocols)[string]) {
  const found = await Promise.all(
    Object.entries(calls).map(async ([name, call]) => [name, await send(url, call)] as const),
  );
  return Object.fromEntries(found);
}

describe("during reassignment of every contract", () => {
  const url = useServer(inReassignment);

  test.each(everyProtocol)("every outcome over %s equals that over REST", async (_protocol, send) => {
    const restResponse = await callAll(url(), protocols["REST"] ?? send);
    expect(Object.values(restResponse).filter((outcome) => !outcome.ok && outcome.code === Code.Aborted)).not.toEqual(
      [],
    );
    expect(await callAll(url(), send)).toEqual(restResponse);
  });
});

describe("before the first snapshot", () => {
  const url = useServer(unready);
  const reason = "no snapshot of the ledger has been taken yet";
  /** The messages of calls that fail with another reason. */
  const others: Readonly<Record<string, string>> = {
    // It names what keeps the mirror from the ledger.
    readiness: expect.stringContaining(`not ready: ${reason}`) as string,
    "a proof from a file": "the ledger cannot be asked for its updates now",
  };

  test.each(everyProtocol)("every call is unavailable over %s, unless it needs no contracts", async (_, send) => {
    const found = await callAll(url(), send);
    const { liveness, "the OpenAPI document": document, ...rest } = found;
    expect(liveness).toEqual({ ok: true, answer: { status: "ok" } });
    expect(document).toMatchObject({ ok: true });
    const unavailable = Object.keys(successfulCalls).filter((name) => name in rest);
    for (const name of [...unavailable, "a proof from a file", "an instrument that does not exist"]) {
      const expected = { ok: false, code: Code.Unavailable, message: others[name] ?? reason };
      expect({ name, ...rest[name] }).toEqual({ name, ...expected });
    }
    // Malformed requests are rejected first.
    expect(rest["a page of no instruments"]).toMatchObject({ code: Code.InvalidArgument });
  });
});

describe("when every handler fails unexpectedly", () => {
  const url = useServer(defective);

  test.each(everyProtocol)("every call is internal over %s and hides the cause", async (protocol, send) => {
    const found = await callAll(url(), send);
    const message = "something went wrong here; the operator's log has the details";
    // The REST fixture has no code for status 500.
    const code = protocol === "REST" ? Code.Unknown : Code.Internal;
    for (const name of Object.keys(successfulCalls)) {
      expect({ name, ...found[name] }).toEqual({ name, ok: false, code, message });
    }
  });
});

describe("a request of more than 1 MiB", () => {
  const small = factoryV1({ choiceArguments: transferV1(alice, bob, "ACME-EUR") });
  const padding = "x".repeat(1024 * 1024);
  const large = factoryV1({ choiceArguments: { ...transferV1(alice, bob, "ACME-EUR"), padding } });
  // A GET is in the URL, which HTTP limits by itself.
  const withBody = everyProtocol.filter(([name]) => name !== "Connect GET");

  test.each(withBody)("is rejected over %s", async (_protocol, send) => {
    const server = await demo();
    onTestFinished(() => server.close());
    expect(await send(server.url, large)).toMatchObject({ ok: false, code: Code.ResourceExhausted });
  });

  test.each(withBody)("leaves the connection usable over %s, also after twelve of them", async (_protocol, send) => {
    const server = await demo();
    onTestFinished(() => server.close());
    for (let count = 1; count <= 12; count++) {
      const outcome = await within(20_000, `request ${count} is rejected`, send(server.url, large));
      expect({ count, ...outcome }).toMatchObject({ count, ok: false, code: Code.ResourceExhausted });
    }
    expect(await within(20_000, "a small one succeeds", send(server.url, small))).toMatchObject({ ok: true });
  });
});
