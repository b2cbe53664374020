/** Runs in the browser: calls the service by fetch and by Connect and gRPC-Web clients. */
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { MetadataService } from "../../../../gen/offledger/metadata/v1/metadata_service_pb.js";
import { OperatorService } from "../../../../gen/offledger/operator/v0/operator_service_pb.js";

/** What the page could read of a response; `blocked` if the browser withheld it. */
export interface Read {
  readonly blocked?: true;
  readonly status?: number;
  readonly code?: string;
  readonly message?: string;
  readonly answer?: unknown;
  readonly challenge?: string | null;
  readonly retryAfter?: string | null;
}

const transports: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  Connect: (baseUrl) => createConnectTransport({ baseUrl, defaultTimeoutMs: 10_000 }),
  "Connect binary": (baseUrl) => createConnectTransport({ baseUrl, useBinaryFormat: true }),
  "Connect GET": (baseUrl) => createConnectTransport({ baseUrl, useHttpGet: true }),
  "gRPC-Web": (baseUrl) => createGrpcWebTransport({ baseUrl, defaultTimeoutMs: 10_000 }),
};

async function byFetch(url: string, path: string, authorization?: string, body?: string): Promise<Read> {
  const headers = {
    ...(authorization !== undefined && { authorization }),
    ...(body !== undefined && { "content-type": "application/json" }),
  };
  try {
    const sent = body === undefined ? {} : { method: "POST", body };
    const response = await fetch(url + path, { headers, ...sent });
    return {
      status: response.status,
      answer: await response.json(),
      challenge: response.headers.get("www-authenticate"),
      retryAfter: response.headers.get("retry-after"),
    };
  } catch {
    return { blocked: true };
  }
}

async function byClient(by: string, url: string, authorization?: string, registrarParty?: string): Promise<Read> {
  const transport = transports[by]?.(url);
  if (transport === undefined) throw new Error(`unknown client ${by}`);
  const options = authorization === undefined ? {} : { headers: { authorization, "x-request-id": "page" } };
  try {
    if (registrarParty === undefined) {
      return { answer: (await createClient(OperatorService, transport).getOperator({}, options)).partyId };
    }
    const client = createClient(MetadataService, transport);
    return { answer: (await client.getRegistryInfo({ registrarParty }, options)).adminId };
  } catch (error) {
    const { code, rawMessage, metadata, cause } = ConnectError.from(error);
    // For a blocked response the browser throws only a TypeError.
    if (cause instanceof TypeError) return { blocked: true };
    const [challenge, retryAfter] = [metadata.get("www-authenticate"), metadata.get("retry-after")];
    return { code: Code[code], message: rawMessage, challenge, retryAfter };
  }
}

Object.assign(globalThis, { byFetch, byClient });
