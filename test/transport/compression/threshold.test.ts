/** From which size on responses are compressed; and errors of RPC, which never are. */
import { fromJson, toBinary, toJsonString } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MetadataService } from "../../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { RegistryError } from "../../../src/domain/errors.js";
import { createServer, type Server } from "../../../src/transport/server.js";
import { accepting, checkCompressed, headerOf, requestOf } from "../../fixtures/compressed-responses.js";
import { bindPartial } from "../../fixtures/partial-service.js";
import type { Call } from "../../fixtures/protocols.js";
import { requestForms, sendHttp1 } from "../../fixtures/requests-in-forms.js";
import { TEST_SERVER_OPTIONS } from "../../fixtures/server-options.js";

const MIN_BYTES = 1_024;
const method = MetadataService.method.getRegistryInfo;
const forms = Object.keys(requestForms);

/** Asks for a response with a text of this length; "error" asks for an error. */
const callFor = (id: string): Call => ({
  method,
  path: `/api/token-standard/v0/registrars/${id}/registry/metadata/v1/info`,
  body: undefined,
  request: { registrarParty: id },
});
const answerOf = (length: number) => ({ adminId: "a".repeat(length), supportedApis: {} });

function getRegistryInfo({ registrarParty }: { registrarParty: string }) {
  if (registrarParty === "error") throw new RegistryError("conflict", "a".repeat(3_000));
  return answerOf(Number(registrarParty));
}

let server: Server;
let url: string;
beforeAll(async () => {
  server = await createServer([bindPartial(MetadataService, { getRegistryInfo })], TEST_SERVER_OPTIONS);
  url = await server.listen("127.0.0.1", 0);
});
afterAll(() => server.close(1_000));

/** The size of a response in bytes, as the library encodes it. */
function sizeOf(form: string, length: number): number {
  const message = fromJson(method.output, answerOf(length));
  const isBinary = form.startsWith("gRPC") || form === "Connect binary";
  if (isBinary) return toBinary(method.output, message).length;
  return toJsonString(method.output, message, { alwaysEmitImplicit: true }).length;
}

describe.each(forms)("%s", (form) => {
  test.each([
    [MIN_BYTES - 1, false],
    [MIN_BYTES, true],
  ])("a response of %d bytes is compressed: %s", async (size, isCompressed) => {
    const length = size - sizeOf(form, MIN_BYTES) + MIN_BYTES;
    expect(sizeOf(form, length)).toBe(size);
    const request = requestOf(form, callFor(String(length)));
    const plain = await sendHttp1(url, request);
    const asked = await sendHttp1(url, accepting(request, "gzip", headerOf(form)));
    expect(checkCompressed(form, plain, asked)).toBe(isCompressed);
  });

  test.skipIf(form === "REST")("an error is not compressed", async () => {
    const request = requestOf(form, callFor("error"));
    const plain = await sendHttp1(url, request);
    const asked = await sendHttp1(url, accepting(accepting(request), "gzip", "grpc-accept-encoding"));
    expect(asked.status).toBe(plain.status);
    expect(asked.body.equals(plain.body)).toBe(true);
    expect(asked.headers["content-encoding"]).toBeUndefined();
    expect(asked.headers["grpc-status"]).toBe(plain.headers["grpc-status"]);
    const text = asked.body.toString("latin1") + String(asked.headers["grpc-message"]);
    expect(text).toContain("a".repeat(1_500));
  });
});
