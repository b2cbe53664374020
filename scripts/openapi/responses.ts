/** The errors of operations: each is declared once for each form of its body, and referred to. */
import type { JsonObject } from "../../src/util/json.js";
import { isUtility, statusOf } from "../../src/transport/errors.js";
import type { Comment } from "./comments.js";
import { requestIdHeader } from "./request-id.js";

interface Failure {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
}

interface Header {
  readonly description: string;
  readonly type: "integer" | "string";
}

const retryAfter: Header = { description: "Seconds to wait before a retry.", type: "integer" };
const allow: Header = { description: "The methods of the path.", type: "string" };

const failures: Readonly<Record<number, Failure>> = {
  400: { description: "The request is malformed, or a field or parameter is missing or invalid." },
  404: { description: "The registrar, the contract or something that the operation needs is not known here." },
  405: { description: "The path is served by other methods.", headers: { Allow: allow } },
  408: { description: "The request came too slowly." },
  409: {
    description: "A contract is being reassigned between synchronizers, or those to disclose share no synchronizer.",
  },
  413: { description: "The body is too large." },
  414: { description: "The path with its query is too long." },
  415: { description: "The body is not JSON in UTF-8." },
  429: { description: "The limit of open streams is reached.", headers: { "Retry-After": retryAfter } },
  431: { description: "The head of the request is too large." },
  500: { description: "A defect of the service; the operator's log has the details." },
  503: {
    description: "No contracts have been read yet or they are too old, or the service is overloaded or stopping.",
    headers: { "Retry-After": retryAfter },
  },
};

const TOKEN_STANDARD = "";
const UTILITY = "Utility";

/** Decided before the path is known, so that their body is the token standard's everywhere. */
const WITHOUT_PATH: ReadonlySet<number> = new Set([408, 431]);
/** No utility operation is a stream. */
const NOT_OF_UTILITY: ReadonlySet<number> = new Set([...WITHOUT_PATH, 429]);

/** `components.responses` for both forms of errors. */
export const errorResponses: JsonObject = Object.fromEntries(
  [TOKEN_STANDARD, UTILITY].flatMap((prefix) =>
    Object.entries(failures)
      .filter(([status]) => prefix === TOKEN_STANDARD || !NOT_OF_UTILITY.has(Number(status)))
      .map(([status, failure]) => [`${prefix}${status}`, response(failure, prefix)]),
  ),
);

function response({ description, headers = {} }: Failure, prefix: string): JsonObject {
  const schema = { $ref: `#/components/schemas/${prefix === UTILITY ? "Error" : "ErrorResponse"}` };
  return {
    description,
    headers: {
      ...requestIdHeader,
      ...Object.fromEntries(
        Object.entries(headers).map(([name, header]) => [
          name,
          { description: header.description, schema: { type: header.type } },
        ]),
      ),
    },
    content: { "application/json": { schema } },
  };
}

/** What the generator knows of an operation that decides how it can fail. */
export interface Fallible {
  readonly path: string;
  readonly isPost: boolean;
  readonly hasParameters: boolean;
  /** From the comment of the rpc. */
  readonly errors: Comment["errors"];
}

/** References by status. */
export function errorsOf({ path, isPost, hasParameters, errors }: Fallible): JsonObject {
  // Health operations have nothing that can fail.
  const isHealth = !path.startsWith("/api/");
  const known = [...errors.keys()].map((name) => knownStatus(path, name));
  const statuses = [405, 408, 414, 431, 503, ...known];
  if (!isHealth) statuses.push(500);
  if (isPost || hasParameters) statuses.push(400);
  // POST operations without fields also accept a body.
  if (isPost) statuses.push(413, 415);
  const prefixOf = (status: number) => (isUtility(path) && !WITHOUT_PATH.has(status) ? UTILITY : TOKEN_STANDARD);
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/${prefixOf(status)}${status}` }]),
  );
}

/** The causes in the comment of the rpc, as a list in Markdown. */
export function listCauses(path: string, errors: Comment["errors"]): string {
  const causes = [...errors].map(([name, cause]) => `- ${knownStatus(path, name)}: ${cause}`);
  return causes.length === 0 ? "" : `\n\n${causes.join("\n")}`;
}

function knownStatus(path: string, name: string): number {
  const status = statusOf(name);
  if (status === undefined || failures[status] === undefined) throw new Error(`${path}: unknown error ${name}`);
  return status;
}

/** The bodies of errors, by their published names. */
export const errorSchemas: JsonObject = {
  ErrorResponse: {
    type: "object",
    description: "An error.",
    required: ["error"],
    properties: { error: { type: "string", description: "What is wrong, with which value, and what to do." } },
  },
  Error: {
    type: "object",
    description: "An error of a utility operation.",
    required: ["error", "error_description"],
    properties: {
      error: {
        type: "string",
        description: "The kind of error, such as `not_found`; `unknown_error` for a defect.",
      },
      error_description: { type: "string", description: "What is wrong, with which value, and what to do." },
    },
  },
};
