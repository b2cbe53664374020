import { fromJsonString } from "@bufbuild/protobuf";
import { type ExplainResponse, ExplainResponseSchema } from "../../gen/offledger/explain/v1/explain_pb.js";
import type { Config } from "../config/config.js";
import { SettingError } from "../config/setting.js";
import type { JsonObject, JsonValue } from "../domain/json.js";
import { configFailure, EXIT_CONFIG, EXIT_FAILURE, fail, type Failure, messageOf } from "./failure.js";
import { formatExplanation } from "./format/explanation.js";
import { type OperatorResponse, postToOperator } from "./operator-request.js";
import { operatorUrl } from "./operator-settings.js";
import { print } from "./output.js";
import { printable } from "./format/printable.js";

const PATH = "/api/offledger/v1/explain";
/** As much as the operator's port accepts. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;
/** Answered by a setting or an input that does not change by a retry. */
const CONFIG_STATUSES = new Set([400, 401, 403, 413]);

/**
 * Prints how a running service answers a request. `argument` is the id of a refused request, or `-` for one on stdin:
 * `{"operation": …, "request": …, "at": …}`.
 */
export async function explain(config: Config, argument: string): Promise<void> {
  let body: string;
  try {
    body = JSON.stringify(argument === "-" ? explainRequest(await readInput()) : { requestId: argument });
  } catch (error) {
    return fail(configFailure(`the request on stdin cannot be read: ${messageOf(error)}`));
  }
  try {
    const url = operatorUrl(config);
    const response = await send(config, body);
    if (typeof response === "string") return fail(atUrl(url, response, EXIT_FAILURE));
    const { status } = response;
    if (status !== 200) {
      const exitCode = CONFIG_STATUSES.has(status) ? EXIT_CONFIG : EXIT_FAILURE;
      return fail(atUrl(url, describeRefusal(config, response), exitCode));
    }
    const explanation = readExplanation(response);
    if (explanation === undefined) return fail(atUrl(url, "the answer is no explanation", EXIT_FAILURE));
    print(formatExplanation(explanation));
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    fail(configFailure(error.message));
  }
}

const atUrl = ({ origin }: URL, reason: string, exitCode: number): Failure => ({
  message: printable(`the service at ${origin} cannot explain the request: ${reason}`),
  exitCode,
});

/** The response, or why there is none. */
async function send(config: Config, body: string): Promise<OperatorResponse | string> {
  try {
    return await postToOperator(config, PATH, body);
  } catch (error) {
    if (error instanceof SettingError) throw error;
    return messageOf(error);
  }
}

function readExplanation({ body }: OperatorResponse): ExplainResponse | undefined {
  try {
    return fromJsonString(ExplainResponseSchema, body, { ignoreUnknownFields: true });
  } catch {
    return undefined;
  }
}

/** What the service says, and what to set. */
function describeRefusal({ operatorTokenFile }: Config, { status, body }: OperatorResponse): string {
  const message = errorIn(body) ?? "no reason is given";
  if (status !== 401) return `status ${status}, ${message}`;
  const todo = operatorTokenFile === undefined ? "set" : "check the file of";
  return `status 401, ${message}: ${todo} OFFLEDGER_OPERATOR_TOKEN_FILE`;
}

function errorIn(body: string): string | undefined {
  try {
    const { error } = objectOf(JSON.parse(body) as JsonValue);
    return typeof error === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

function explainRequest(input: string): JsonObject {
  const { at, ...call } = objectOf(JSON.parse(input) as JsonValue);
  return at === undefined ? { call } : { call, at };
}

function objectOf(value: JsonValue): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new Error('it must be an object with "operation" and "request"');
}

/** Waits without a time limit: a person may type. */
async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_INPUT_BYTES) throw new Error("it exceeds 16 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
