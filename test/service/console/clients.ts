/** The console's operations over REST, Connect and gRPC. */
import { fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import { ConsoleService } from "../../../gen/offledger/console/v1/console_service_pb.js";
import { protocols } from "../../fixtures/protocols.js";

export type Rpc = keyof typeof ConsoleService.method;

type Request = Readonly<Record<string, string>>;

const PATH = "/api/offledger/v1/console";
const paths: Readonly<Record<Rpc, (request: Request) => string>> = {
  getInventory: () => "/inventory",
  getFreshness: () => "/freshness",
  getRequests: () => "/requests",
  listRefusals: ({ code }) => `/refusals${code === undefined ? "" : `?code=${code}`}`,
  getParty: ({ party }) => `/parties/${encodeURIComponent(party ?? "")}`,
  getContract: ({ contractId }) => `/contracts/${encodeURIComponent(contractId ?? "")}`,
};

/** Calls an operation over REST and returns the response. Throws if it fails. */
export async function ask(url: string, rpc: Rpc, request: Request = {}): Promise<JsonObject> {
  const response = await fetch(url + PATH + paths[rpc](request));
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text) as JsonObject;
}

/** What every protocol answers: each must be the same. */
export async function askEverywhere(url: string, rpc: Rpc, request: Request = {}): Promise<JsonValue[]> {
  const method = ConsoleService.method[rpc];
  const call = { method, request, path: PATH + paths[rpc](request), body: undefined };
  const answers: JsonValue[] = [];
  for (const name of ["REST", "Connect JSON", "Connect binary", "gRPC", "gRPC-Web"]) {
    const outcome = await protocols[name]?.(url, call);
    if (outcome?.ok !== true) throw new Error(`${name}: ${JSON.stringify(outcome)}`);
    // REST has fields without a value too.
    const message = fromJson(method.output, outcome.answer);
    answers.push(toJson(method.output, message));
  }
  return answers;
}
