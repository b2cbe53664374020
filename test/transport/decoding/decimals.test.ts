/** Decimals as JSON numbers: each protocol that carries JSON reads the digits that were written. */
import { gzipSync } from "node:zlib";
import { type DescMethodUnary, type Message, toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AllocationService } from "../../../gen/offledger/allocation/v2/allocation_service_pb.js";
import { BurnMintInstructionService } from "../../../gen/offledger/burn_mint_instruction/v0/burn_mint_instruction_service_pb.js";
import { TransferService } from "../../../gen/offledger/transfer/v0/transfer_service_pb.js";
import { TransferInstructionService } from "../../../gen/offledger/transfer_instruction/v1/transfer_instruction_service_pb.js";
import { invalid } from "../../../src/domain/errors.js";

import { createServer, type Server } from "../../../src/transport/server.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import { nameOf } from "../../fixtures/services.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

/** What is written, and what is read. */
const numbers: readonly (readonly [written: string, read: string])[] = [
  ["1e-7", "0.0000001"],
  ["1.5e3", "1500"],
  ["-1.25e22", "-12500000000000000000000"],
  // A double has other digits.
  ["123456789.1234567891", "123456789.1234567891"],
  ["12345678901234567.0000000001", "12345678901234567.0000000001"],
  ['"0.50"', "0.50"],
];

interface Form {
  readonly method: DescMethodUnary;
  /** JSON with a decimal; undefined for one that REST does not have. */
  readonly path: string | undefined;
  readonly json: (decimal: string) => string;
  /** Where the decimal is in the message, in JSON. */
  readonly at: readonly (string | number)[];
}

const leg = (amount: string) =>
  `{"sender":{"owner":"a::1"},"receiver":{"owner":"b::1"},"amount":${amount},"instrumentId":"I"}`;

const forms: Readonly<Record<string, Form>> = {
  "an output of burn-mint": {
    method: BurnMintInstructionService.method.getBurnMintFactory,
    path: "/api/utilities/v0/registry/burn-mint-instruction/v0/burn-mint-factory",
    json: (decimal) =>
      `{"instrumentId":{"admin":"a::1","id":"I"},"outputs":[{"owner":"b::1","amount":"1.0"},{"owner":"c::1","amount":${decimal}}]}`,
    at: ["outputs", 1, "amount"],
  },
  "the transfer of a proof": {
    method: TransferService.method.verifyTransferProof,
    path: "/api/utilities/v0/registry/transfer/v0/proof",
    json: (decimal) =>
      `{"updateId":"u","transfer":{"sender":"a::1","receiver":"b::1","amount":${decimal},"instrument_id":{"admin":"a::1","id":"I"},` +
      `"requestedAt":"2026-01-01T00:00:00Z","executeBefore":"2026-01-02T00:00:00Z","inputHoldingCids":[],"meta":{"values":{"note":"1e-7"}}}}`,
    at: ["transfer", "amount"],
  },
  "a typed transfer": {
    method: TransferInstructionService.method.getTransferFactory,
    path: undefined,
    json: (decimal) =>
      `{"registrarParty":"a::1","transferV1":{"transfer":{"sender":"a::1","receiver":"b::1","amount":${decimal},"instrumentId":{"admin":"a::1","id":"I"}}}}`,
    at: ["transferV1", "transfer", "amount"],
  },
  "a leg of a typed settlement": {
    method: AllocationService.method.getSettlementFactory,
    path: undefined,
    json: (decimal) => `{"registrarParty":"a::1","settleBatchV2":{"transferLegs":[${leg(decimal)}]}}`,
    at: ["settleBatchV2", "transferLegs", 0, "amount"],
  },
};

type Send = (url: string, form: Form, json: string) => Promise<Response>;

const type = { "content-type": "application/json" };
const post = (url: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", body, headers: { ...type, ...headers } });

const protocols: Readonly<Record<string, Send>> = {
  REST: (url, { path = "" }, json) => post(url + path, json),
  Connect: (url, { method }, json) => post(`${url}/${nameOf(method)}`, json),
  "Connect with a deadline": (url, { method }, json) =>
    post(`${url}/${nameOf(method)}`, json, { "connect-timeout-ms": "20000" }),
  "Connect, compressed": (url, { method }, json) =>
    post(`${url}/${nameOf(method)}`, gzipSync(json), { "content-encoding": "gzip" }),
  "Connect by GET": (url, { method }, json) =>
    fetch(`${url}/${nameOf(method)}?encoding=json&message=${encodeURIComponent(json)}`),
};

describe("a number", () => {
  let server: Server;
  let url: string;
  let received: Message[] = [];
  const take = (request: Message): never => {
    received.push(request);
    throw invalid("seen");
  };
  beforeAll(async () => {
    const bindings = [
      bindPartial(BurnMintInstructionService, { getBurnMintFactory: take }),
      bindPartial(TransferService, { verifyTransferProof: take }),
      bindPartial(TransferInstructionService, { getTransferFactory: take }),
      bindPartial(AllocationService, { getSettlementFactory: take }),
    ];
    server = await createServer(bindings, TEST_SERVER_OPTIONS);
    url = await server.listen("127.0.0.1", 0);
  });
  afterAll(() => server.close(1_000));

  describe.each(Object.entries(forms))("in %s", (_form, form) => {
    const sent = Object.entries(protocols).filter(([name]) => form.path !== undefined || !name.startsWith("REST"));

    describe.each(sent)("over %s", (_protocol, send) => {
      test.each(numbers)("%s is read as %s", async (written, read) => {
        received = [];
        const response = await send(url, form, form.json(written));
        expect(await response.text()).toContain("seen");
        const [message] = received;
        if (message === undefined) throw new Error("nothing was received");
        const json: unknown = toJson(form.method.input, message);
        expect(form.at.reduce((value, key) => (value as never)[key], json)).toBe(read);
      });

      test.each(["true", "[1]", "1e400"])("%s is refused", async (written) => {
        received = [];
        const response = await send(url, form, form.json(written));
        expect(response.status).toBe(400);
        expect(received).toEqual([]);
      });
    });
  });
});
