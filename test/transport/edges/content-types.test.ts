/** Content types and charsets over REST, and the ones that an rpc takes. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId, party } from "../../../demo/element.js";
import { registry, type Running, serveFile } from "../../fixtures/run-service.js";
import { Client, outcomeOf, overRest, type RawResponse } from "./senders.js";

const acme = party("acme-registrar");
const offer = contractId("offer bond to bob");
const target = {
  rest: `${registry(acme)}/transfer-instruction/v2/${offer}/choice-contexts/reject`,
  rpc: "/offledger.transfer_instruction.v2.TransferInstructionService/GetTransferInstructionRejectContext",
};
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
const utf8 = ["; charset=utf-8", "; charset=UTF-8", ";charset=utf8", '; charset="utf-8"', "; odata=verbose"];
const otherCharsets = ["; charset=iso-8859-1", '; charset="utf-16le"', "; odata=verbose; charset=utf-16"];
const otherTypes = ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"];

describe.each(Object.entries(overRest(target)))("%s", (_name, send) => {
  test.each(utf8)("JSON%s", async (parameters) => {
    expect(outcomeOf(await send(client, body, `application/json${parameters}`))).toBe("ok");
  });

  test.each(otherCharsets)("JSON%s is 415", async (parameters) => {
    const response = await send(client, body, `application/json${parameters}`);
    expect(response.status).toBe(415);
    expect(errorOf(response)).toMatch(/^the charset of the body must be utf-8, but is "/);
  });

  test.each(otherTypes)("%s is 415", async (contentType) => {
    const response = await send(client, body, contentType);
    expect(response.status).toBe(415);
    expect(errorOf(response)).toBe(`the content-type must be application/json, but is "${contentType}"`);
  });
});

const errorOf = ({ body: text }: RawResponse): string =>
  (JSON.parse(text.toString()) as { readonly error: string }).error;

test("an empty body has no charset to be wrong over REST", async () => {
  const headers = { "content-type": "application/json; charset=utf-16" };
  for (const isChunked of [false, true]) {
    const response = await client.http1({ path: target.rest, headers, body: Buffer.alloc(0), isChunked });
    expect(response.status).toBe(200);
  }
});

test.each(["application/json", "application/json; charset=utf-8", "application/json;charset=UTF-8"])(
  "an rpc takes %s, without a Connect header",
  async (type) => {
    for (const send of ["http1", "http2"] as const) {
      const response = await client[send]({ path: target.rpc, headers: { "content-type": type }, body });
      expect(outcomeOf(response)).toBe("ok");
    }
  },
);

test.each([...otherTypes, "application/connect+json", "application/json; charset=latin1"])(
  "an rpc answers 415 to %s",
  async (type) => {
    for (const send of ["http1", "http2"] as const) {
      const response = await client[send]({ path: target.rpc, headers: { "content-type": type }, body });
      expect(response.status).toBe(415);
    }
  },
);

test("a bidirectional stream over HTTP/1.1 is 505", async () => {
  const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
  const headers = { "content-type": "application/connect+json" };
  expect((await client.http1({ path, headers, body: Buffer.from("{}") })).status).toBe(505);
});
