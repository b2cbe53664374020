/** Methods that a path does not have, and the query of a GET, over every protocol. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contractId, party } from "../../../demo/element.js";
import { registry, type Running, serveFile } from "../../fixtures/run-service.js";
import { Client } from "./senders.js";

const acme = party("acme-registrar");
const offer = contractId("offer bond to bob");
const rest = `${registry(acme)}/transfer-instruction/v2/${offer}/choice-contexts/reject`;
const rpc = "/offledger.transfer_instruction.v2.TransferInstructionService/GetTransferInstructionRejectContext";
const message = JSON.stringify({ registrarParty: acme, transferInstructionId: offer });

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

const json = { "content-type": "application/json" };
const versions = ["http1", "http2"] as const;

/** The methods that each path has. */
const paths: readonly (readonly [what: string, path: string, allow: string])[] = [
  ["a REST operation by POST", rest, "POST"],
  ["a REST operation by GET", `${registry(acme)}/metadata/v1/info`, "GET, HEAD"],
  ["the root", "/", "GET, HEAD"],
  ["an rpc", rpc, "GET, POST"],
  ["a unary rpc of the health service", "/grpc.health.v1.Health/Check", "POST"],
  ["a stream", "/grpc.health.v1.Health/Watch", "POST"],
];

describe.each(paths)("%s", (_what, path, allow) => {
  const allowed = allow.split(", ");
  const isRpc = path === rpc || path.startsWith("/grpc.");
  const others = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"].filter(
    (method) => !allowed.includes(method),
  );

  test.each(others)("%s is 405 with Allow and a body", async (method) => {
    for (const version of versions) {
      const body = method === "GET" ? undefined : Buffer.from("{}");
      const response = await client[version]({ method, path, headers: json, body });
      expect([response.status, response.fields["allow"]]).toEqual([405, allow]);
      expect(response.fields["content-type"]).toMatch(/^application\/json/);
      // The path is shown up to a length.
      const problem: unknown = expect.stringMatching(
        `^the method of /.* must be ${allowed.join(" or ")}, but is ${method}$`,
      );
      expect(JSON.parse(response.body.toString())).toMatchObject(
        isRpc ? { code: "invalid_argument", message: problem } : { error: problem },
      );
    }
  });

  test.skipIf(allowed.includes("HEAD"))("HEAD is 405 with Allow, and has no body", async () => {
    for (const version of versions) {
      const response = await client[version]({ method: "HEAD", path });
      expect([response.status, response.fields["allow"]]).toEqual([405, allow]);
      expect(response.body).toHaveLength(0);
    }
  });
});

const query = (params: Readonly<Record<string, string>>): string => `${rpc}?${new URLSearchParams(params).toString()}`;

describe("a GET of an rpc", () => {
  test.each<[string, string]>([
    ["with its query", query({ encoding: "json", message })],
    ["with the version", query({ connect: "v1", encoding: "json", message })],
    ["with a percent sign that encodes nothing", `${query({ encoding: "json", message })}&other=100%&more=%zz`],
  ])("%s is served", async (_what, path) => {
    for (const headers of [{}, json]) {
      expect((await client.http1({ method: "GET", path, headers })).status).toBe(200);
    }
  });

  test.each<[string, string, number]>([
    ["by a browser, without a query", rpc, 415],
    ["of another encoding", query({ encoding: "xml", message }), 415],
    ["without message", query({ encoding: "json" }), 400],
    ["with half a surrogate pair", query({ encoding: "json", message: '{"registrarParty":"\\ud800"}' }), 400],
    ["with a list", query({ encoding: "json", message: "[]" }), 400],
  ])("%s is refused", async (_what, path, status) => {
    for (const version of versions) expect((await client[version]({ method: "GET", path })).status).toBe(status);
  });
});

test("GET / names the service and links the documentation", async () => {
  for (const version of versions) {
    const response = await client[version]({ method: "GET", path: "/" });
    expect(response.status).toBe(200);
    expect(JSON.parse(response.body.toString())).toMatchObject({ service: "offledger", docs: "/docs" });
  }
});
