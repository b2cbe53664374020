/** The refusal on the record of a request, over every protocol. */
import { fromJson, type Message, toJson } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { callNamed, failingCalls } from "../fixtures/calls/index.js";
import { type ObservedService, observedService } from "../fixtures/observed-service.js";
import { type Call, sendRest } from "../fixtures/protocols.js";
import { until } from "../fixtures/wait.js";
import type { CompletedRequest } from "../../src/telemetry/request-record.js";
import { nameOf, protocolClients } from "./protocol-clients.js";

const offer = callNamed("a transfer instruction that does not exist");
const instrument = callNamed("an instrument that does not exist");
const valid = callNamed("v1 instruments");
/** Refused before the rules are asked. */
const invalid = callNamed("a page of no instruments");

let completed: CompletedRequest[] = [];
let service: ObservedService;
beforeAll(async () => {
  service = await observedService([(request) => completed.push(request)]);
});
beforeEach(() => {
  completed = [];
});
afterAll(() => service.close());

async function onlyRecord(): Promise<CompletedRequest> {
  await until("the request is completed", () => completed.length > 0);
  const [record, ...more] = completed;
  expect(more).toEqual([]);
  if (record === undefined) throw new Error("there is no record");
  return record;
}

/** What was asked, as the clients write it. */
const asJson = ({ refusal }: CompletedRequest) => refusal && toJson(refusal.schema, refusal.request);
const expected = ({ method, request }: Call) => toJson(method.input, fromJson(method.input, request) as Message);

const senders = {
  ...Object.fromEntries(
    Object.entries(protocolClients).map(([name, { send }]) => [name, (call: Call) => send(service.url, call)]),
  ),
  "REST with a chunked body": async (call: Call) => {
    const chunks = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from(JSON.stringify(call.body)));
        controller.close();
      },
    });
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: chunks, duplex: "half" } as RequestInit;
    const { status } = await fetch(service.url + call.path, init);
    return status === 404 ? Code.NotFound : undefined;
  },
};

test.each(Object.entries(senders))("%s: the record has why and what was asked", async (_name, send) => {
  expect(await send(offer)).toBe(Code.NotFound);
  const record = await onlyRecord();
  expect(record.operation).toBe(nameOf(offer));
  expect(record.outcome).toBe(Code.NotFound);
  expect(record.refusal?.reason).toBe("not-found");
  expect(record.refusal?.causes).toEqual([
    expect.objectContaining({ message: failingCalls["a transfer instruction that does not exist"]?.message }),
  ]);
  expect(asJson(record)).toEqual(expected(offer));
});

test("a REST request without a body has it too", async () => {
  expect((await sendRest(service.url, instrument)).status).toBe(404);
  const record = await onlyRecord();
  expect(record.refusal?.causes).toHaveLength(1);
  expect(asJson(record)).toEqual(expected(instrument));
});

test.each(Object.entries(protocolClients))("%s: no other request has one", async (_name, { send }) => {
  expect(await send(service.url, valid)).toBeUndefined();
  expect((await onlyRecord()).refusal).toBeUndefined();
  completed = [];
  expect(await send(service.url, invalid)).toBe(Code.InvalidArgument);
  expect((await onlyRecord()).refusal).toBeUndefined();
});
