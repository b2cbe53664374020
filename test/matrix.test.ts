/** Every operation gives equal answers and errors over every protocol. */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { answered, calls, refused } from "./fixtures/calls/index.js";
import { acme, alice, bob } from "./fixtures/calls/making.js";
import { instruments } from "./fixtures/calls/metadata.js";
import { factoryV1, transferV1 } from "./fixtures/calls/transfer-instruction.js";
import { type Call, protocols, sendRest } from "./fixtures/protocols.js";
import { nameOf, rpcs } from "./fixtures/services.js";
import { defective, demo, inReassignment, type Place, unready } from "./fixtures/situations.js";
import { within } from "./fixtures/wait.js";

const everyProtocol = Object.entries(protocols);

/** Starts a server for one group of tests. */
function serving(start: () => Promise<Place>): () => string {
  let place: Place;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());
  return () => place.url;
}

async function restAnswer(url: string, call: Call): Promise<JsonValue> {
  const response = await sendRest(url, call);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`REST answered ${response.status}: ${text}`);
  return JSON.parse(text) as JsonValue;
}

/** The raw JSON text of a Connect answer. */
async function connectText(url: string, { method, request }: Call): Promise<string> {
  const headers = { "content-type": "application/json" };
  const procedure = `${url}/${nameOf(method)}`;
  const response = await fetch(procedure, { method: "POST", headers, body: JSON.stringify(request) });
  return response.text();
}

/** The served rpcs without a call in the table. */
const without = (table: readonly Call[]) => {
  const called = new Set(table.map(({ method }) => nameOf(method)));
  return rpcs.map(nameOf).filter((name) => !called.has(name));
};

describe("the table of calls", () => {
  test("has a call for every rpc, and an answered one except for the proof and pending instructions", () => {
    expect(rpcs).toHaveLength(46);
    expect(without(Object.values(calls))).toEqual([]);
    expect(without(Object.values(answered))).toEqual([
      "offledger.allocation_instruction.v2.AllocationInstructionService/GetAllocationInstructionAcceptContext",
      "offledger.allocation_instruction.v2.AllocationInstructionService/GetAllocationInstructionWithdrawContext",
      "offledger.transfer.v0.TransferService/VerifyTransferProof",
    ]);
  });

  test("has unique names", () => {
    expect(Object.keys(calls)).toHaveLength(Object.keys(answered).length + Object.keys(refused).length);
  });

  test("has every error code that the demo registry gives", () => {
    const codes = new Set(Object.values(refused).map(({ code }) => code));
    expect(codes).toEqual(new Set([Code.InvalidArgument, Code.NotFound, Code.Aborted]));
  });
});

describe("an answer", () => {
  const url = serving(demo);

  describe.each(Object.entries(answered))("%s", (_name, call) => {
    let byRest: JsonValue;
    beforeAll(async () => {
      byRest = await restAnswer(url(), call);
    });

    test.each(everyProtocol)("is the same over %s", async (_protocol, send) => {
      expect(await send(url(), call)).toEqual({ ok: true, answer: byRest });
    });

    test("has the same JSON text over REST and Connect", async () => {
      const response = await sendRest(url(), call);
      expect(await response.text()).toBe(await connectText(url(), call));
    });
  });

  test.each(everyProtocol)("v1 instruments, the second page, is the same over %s", async (_protocol, send) => {
    const first = (await restAnswer(url(), instruments(acme, { pageSize: 1 }))) as JsonObject;
    const second = instruments(acme, { pageSize: 1, pageToken: first["nextPageToken"] as string });
    const outcome = await send(url(), second);
    expect(outcome).toEqual({ ok: true, answer: await restAnswer(url(), second) });
    expect(outcome).toMatchObject({ answer: { instruments: [{ id: "ACME-EUR" }] } });
    expect(outcome).not.toHaveProperty("answer.nextPageToken");
  });
});

describe("an error", () => {
  const url = serving(demo);

  describe.each(Object.entries(refused))("%s", (_name, { call, code, says }) => {
    test.each(everyProtocol)("is the same over %s", async (_protocol, send) => {
      expect(await send(url(), call)).toEqual({ ok: false, code, message: says });
    });
  });
});

/** The outcome of every call over one protocol, by the name of the call. */
async function outcomes(url: string, send: (typeof protocols)[string]) {
  const found = await Promise.all(
    Object.entries(calls).map(async ([name, call]) => [name, await send(url, call)] as const),
  );
  return Object.fromEntries(found);
}

describe("if every contract is in reassignment", () => {
  const url = serving(inReassignment);

  test.each(everyProtocol)("every outcome over %s equals that over REST", async (_protocol, send) => {
    const byRest = await outcomes(url(), protocols["REST"] ?? send);
    expect(Object.values(byRest).filter((outcome) => !outcome.ok && outcome.code === Code.Aborted)).not.toEqual([]);
    expect(await outcomes(url(), send)).toEqual(byRest);
  });
});

describe("without a snapshot", () => {
  const url = serving(unready);
  const reason = "no snapshot of the ledger has been taken yet";
  /** The outcome of all other calls, unless the request is malformed. */
  const others: Readonly<Record<string, string>> = {
    readiness: `not ready: ${reason}`,
    "a proof from a file": "the ledger cannot be asked for its updates now",
  };

  test.each(everyProtocol)("every call over %s is unavailable, unless it needs no contracts", async (_, send) => {
    const found = await outcomes(url(), send);
    const { liveness, "the OpenAPI document": document, ...rest } = found;
    expect(liveness).toEqual({ ok: true, answer: { status: "ok" } });
    expect(document).toMatchObject({ ok: true });
    const unavailable = Object.keys(answered).filter((name) => name in rest);
    for (const name of [...unavailable, "a proof from a file", "an instrument that is not there"]) {
      const expected = { ok: false, code: Code.Unavailable, message: others[name] ?? reason };
      expect({ name, ...rest[name] }).toEqual({ name, ...expected });
    }
    // Malformed requests are still rejected as such.
    expect(rest["a page of no instruments"]).toMatchObject({ code: Code.InvalidArgument });
  });
});

describe("if every operation throws an unexpected error", () => {
  const url = serving(defective);

  test.each(everyProtocol)("every call over %s is internal and leaks no details", async (protocol, send) => {
    const found = await outcomes(url(), send);
    const message = "something went wrong here; the operator's log has the details";
    // The fixture only knows the statuses of outcomes.
    const code = protocol === "REST" ? Code.Unknown : Code.Internal;
    for (const name of Object.keys(answered)) {
      expect({ name, ...found[name] }).toEqual({ name, ok: false, code, message });
    }
  });
});

describe("a request of more than 1 MiB", () => {
  const small = factoryV1({ choiceArguments: transferV1(alice, bob, "ACME-EUR") });
  const padding = "x".repeat(1024 * 1024);
  const large = factoryV1({ choiceArguments: { ...transferV1(alice, bob, "ACME-EUR"), padding } });
  // A GET carries the message in the URL, which HTTP limits itself.
  const withBody = everyProtocol.filter(([name]) => name !== "Connect GET");

  test.each(withBody)("is rejected over %s", async (_protocol, send) => {
    const place = await demo();
    onTestFinished(() => place.close());
    expect(await send(place.url, large)).toMatchObject({ ok: false, code: Code.ResourceExhausted });
  });

  test.each(withBody)("leaves the connection over %s usable, even twelve times", async (_protocol, send) => {
    const place = await demo();
    onTestFinished(() => place.close());
    for (let count = 1; count <= 12; count++) {
      const outcome = await within(5_000, `request ${count} is refused`, send(place.url, large));
      expect({ count, ...outcome }).toMatchObject({ count, ok: false, code: Code.ResourceExhausted });
    }
    expect(await within(5_000, "a small one is answered", send(place.url, small))).toMatchObject({ ok: true });
  });
});
