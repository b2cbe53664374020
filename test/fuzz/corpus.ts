/** A valid request for each operation, which the generators mutate; and those that check whether the service still serves. */
import { readFileSync } from "node:fs";
import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { operator } from "../../demo/registry.js";
import { calls } from "../fixtures/calls/index.js";
import { verbOf } from "../fixtures/protocols.js";
import { sendRequest, Target } from "./send.js";

export interface CorpusEntry {
  readonly verb: "GET" | "POST";
  readonly path: string;
  /** The REST body; undefined for GET. */
  readonly body: JsonValue | undefined;
  readonly procedure: string;
  readonly json: JsonValue;
  readonly binary: Buffer;
}

export const corpus: readonly CorpusEntry[] = Object.values(calls).map(({ method, request, path, body }) => ({
  verb: verbOf(method),
  path,
  body,
  procedure: `/${method.parent.typeName}/${method.name}`,
  json: request,
  binary: Buffer.from(toBinary(method.input, fromJson(method.input, request))),
}));

/** A stream does not end, which the fuzz test would take for a fault: test/transport/watch has malformed requests. */
const STREAMS: ReadonlySet<string> = new Set(["GET /api/offledger/v1/watch"]);

/** Operations of the OpenAPI document that the corpus lacks, as `GET /livez`. */
export function findUncovered(): string[] {
  const file = readFileSync(new URL("../../gen/openapi.json", import.meta.url), "utf8");
  const { paths } = JSON.parse(file) as { readonly paths: Readonly<Record<string, object>> };
  return Object.entries(paths).flatMap(([path, verbs]) => {
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/?]+")}([?].*)?$`);
    const has = (verb: string) => corpus.some((entry) => entry.verb === verb && pattern.test(entry.path));
    return Object.keys(verbs)
      .map((verb) => verb.toUpperCase())
      .filter((verb) => ["GET", "POST"].includes(verb) && !STREAMS.has(`${verb} ${path}`) && !has(verb))
      .map((verb) => `${verb} ${path}`);
  });
}

const restRequest = {
  version: 1,
  method: "GET",
  path: "/api/utilities/v0/operator",
  headers: {},
  body: Buffer.alloc(0),
} as const;

const grpcRequest = {
  version: 2,
  method: "POST",
  path: "/offledger.operator.v0.OperatorService/GetOperator",
  headers: { "content-type": "application/grpc+proto", te: "trailers" },
  body: Buffer.alloc(5),
} as const;

/** Requests the operator by REST over HTTP/1.1 and by gRPC. Returns what is wrong with the responses, or undefined. */
export async function sendControlRequests({ host, port, limitMs }: Target): Promise<string | undefined> {
  const target = new Target(host, port, limitMs);
  try {
    const rest = await sendRequest(target, restRequest, true);
    const grpc = await sendRequest(target, grpcRequest, true);
    const [restBody, grpcMessage] = [rest.body.toString(), grpc.body.subarray(5).toString()];
    if (rest.status !== 200 || !restBody.includes(`"${operator}"`)) {
      return `control request by REST: ${rest.status} ${restBody}`;
    }
    if (grpc.headers["grpc-status"] === "0" && grpcMessage.includes(operator)) return undefined;
    return `control request by gRPC: ${grpc.status} grpc-status ${String(grpc.headers["grpc-status"])} ${grpcMessage}`;
  } catch (error) {
    return `control request: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    target.close();
  }
}
