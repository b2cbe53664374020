/** Content types and charsets: what is accepted, and what a refusal says, over every protocol. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId, party } from "../../../demo/element.js";
import { registry, type Running, serveFile } from "../../fixtures/run-service.js";
import { Client, outcomeOf, overRest, overRpc, type RawResponse, type Send } from "./senders.js";

const acme = party("acme-registrar");
const offer = contractId("offer bond to bob");
const target = {
  rest: `${registry(acme)}/transfer-instruction/v2/${offer}/choice-contexts/reject`,
  rpc: "/offledger.transfer_instruction.v2.TransferInstructionService/GetTransferInstructionRejectContext",
};
const watch = "/grpc.health.v1.Health/Watch";
const body = Buffer.from(JSON.stringify({ registrarParty: acme, transferInstructionId: offer }));

let running: Running;
let client: Client;
beforeAll(async () => {
  running = await serveFile(undefined);
  client = new Client(running.url);
});
afterAll(async () => {
  client.close();
  await running.close();
});

/** Parameters of a content type of JSON that say UTF-8, or nothing about it. */
const utf8 = [
  "; charset=utf-8",
  "; charset=UTF-8",
  ";charset=utf-8",
  "; charset=utf8",
  '; charset="utf-8"',
  ";  charset=Utf-8",
  "; odata=verbose",
  "; odata=verbose; charset=utf-8",
];
const otherCharsets = [
  "; charset=iso-8859-1",
  "; charset=latin1",
  "; charset=utf-16",
  '; charset="utf-16le"',
  "; charset=us-ascii",
  "; charset=utf-7",
  "; odata=verbose; charset=utf-16",
];

/** The content type of JSON, by the name of the sender. */
function jsonTypeOf(name: string): string {
  if (name.startsWith("gRPC-Web")) return "application/grpc-web+json";
  return name.startsWith("gRPC") ? "application/grpc+json" : "application/json";
}

// A GET has its encoding in the query.
const senders = Object.entries({ ...overRest(target), ...overRpc(target, "json") }).filter(
  ([name]) => name !== "Connect GET",
);

describe.each(senders)("%s", (name, send: Send) => {
  test.each(utf8)("JSON%s", async (parameters) => {
    expect(outcomeOf(await send(client, body, `${jsonTypeOf(name)}${parameters}`))).toBe("ok");
  });

  test.each(otherCharsets)("JSON%s is 415", async (parameters) => {
    const response = await send(client, body, `${jsonTypeOf(name)}${parameters}`);
    expect(outcomeOf(response)).toBe("415");
    expect(messageOf(response)).toMatch(/^the charset of the body must be utf-8, but is "/);
  });

  test("capitals", async () => {
    expect(outcomeOf(await send(client, body, jsonTypeOf(name).toUpperCase()))).toBe("ok");
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "text/json", "application/jsonx", "application/xml"])(
    "%s",
    async (contentType) => {
      const response = await send(client, body, contentType);
      expect(outcomeOf(response)).toBe("415");
      expect(messageOf(response)).toContain(`but is "${contentType}"`);
      expect(messageOf(response)).toContain("application/json");
    },
  );
});

/** The message of a refusal in JSON, in the form of REST or of Connect. */
function messageOf({ fields, body: text }: RawResponse): string {
  expect(fields["content-type"]).toMatch(/^application\/json/);
  const { error, message } = JSON.parse(text.toString()) as { readonly error?: string; readonly message?: string };
  return error ?? message ?? "";
}

const form = { "content-type": "application/x-www-form-urlencoded" };
const unaryTypes =
  "application/json, application/proto, application/grpc, application/grpc+proto, application/grpc+json, " +
  "application/grpc-web, application/grpc-web+proto, application/grpc-web+json";

describe("an rpc by curl", () => {
  test("with -d alone: 415, which content types are served, and the header to add", async () => {
    for (const send of ["http1", "http2"] as const) {
      const response = await client[send]({ path: target.rpc, headers: form, body });
      expect(response.status).toBe(415);
      expect(response.fields["accept-post"]).toBe(unaryTypes);
      expect(JSON.parse(response.body.toString())).toMatchObject({
        code: "invalid_argument",
        message:
          `the content-type must be one of ${unaryTypes}, but is "application/x-www-form-urlencoded"; ` +
          'for JSON add the header "content-type: application/json"',
      });
    }
  });

  test("without a content type", async () => {
    const response = await client.http1({ path: target.rpc, body });
    expect(response.status).toBe(415);
    expect(messageOf(response)).toContain("but is absent");
  });

  test("without a content type or a body", async () => {
    const response = await client.http1({ path: target.rpc, body: Buffer.alloc(0) });
    expect(response.status).toBe(415);
    expect(messageOf(response)).toContain("but is absent");
  });

  test("without a Connect header: served", async () => {
    const headers = { "content-type": "application/json" };
    expect((await client.http1({ path: target.rpc, headers, body })).status).toBe(200);
  });

  test("with the content type of a stream to an rpc that is none", async () => {
    const headers = { "content-type": "application/connect+json" };
    const response = await client.http1({ path: target.rpc, headers, body });
    expect([response.status, response.fields["accept-post"]]).toEqual([415, unaryTypes]);
  });

  test("to a stream: the content types of streams", async () => {
    const response = await client.http1({ path: watch, headers: form, body: Buffer.from("{}") });
    expect(response.status).toBe(415);
    expect(response.fields["accept-post"]).toBe(
      unaryTypes.replace("application/json, application/proto", "application/connect+json, application/connect+proto"),
    );
    expect(messageOf(response)).toContain('add the header "content-type: application/connect+json"');
  });

  test("a bidirectional stream over HTTP/1.1: 505", async () => {
    const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    const headers = { "content-type": "application/connect+json" };
    const response = await client.http1({ path, headers, body: Buffer.from("{}") });
    expect(response.status).toBe(505);
    expect(JSON.parse(response.body.toString())).toMatchObject({
      code: "unimplemented",
      message: "this stream needs HTTP/2, but the request came over HTTP/1.1",
    });
  });
});

test("a REST path by curl with -d alone: 415 and the content type to send", async () => {
  const response = await client.http1({ path: target.rest, headers: form, body });
  expect(response.status).toBe(415);
  expect(messageOf(response)).toBe(
    'the content-type must be application/json, but is "application/x-www-form-urlencoded"',
  );
});

test("an empty body has no charset to be wrong over REST", async () => {
  const headers = { "content-type": "application/json; charset=utf-16" };
  for (const isChunked of [false, true]) {
    const response = await client.http1({ path: target.rest, headers, body: Buffer.alloc(0), isChunked });
    expect(response.status).toBe(200);
  }
});
