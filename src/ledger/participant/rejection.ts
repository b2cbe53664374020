import type { JsonValue } from "../../domain/json.js";
import { judge, readApiError } from "./errors.js";

/** A response to a command that is not a success. */
export interface Rejection {
  /** What the participant, or a proxy, says about the command. */
  readonly kind:
    | "rejected"
    /** The token is not accepted. */
    | "unauthenticated"
    /** The rights of the user do not suffice. */
    | "forbidden"
    /** It fails now, for reasons that have nothing to do with the command. */
    | "transient"
    /** Not an error of the API. */
    | "unknown";
  readonly status: number;
  /** The participant's error code; empty if the response is not an error of its API. */
  readonly code: string;
  /** The participant's message; else the text of the response. */
  readonly cause: string;
}

/** A Daml exception may have a long payload. */
const MAX_CAUSE_LENGTH = 4_000;
/** Of a response that is not an error of the API, such as the page of a proxy. */
const MAX_TEXT_LENGTH = 300;

/** Reads an error of the JSON Ledger API. `body` is undefined if the text is not JSON. */
export function readRejection(status: number, body: JsonValue | undefined, text: string): Rejection {
  const error = readApiError(body);
  const { code = "", cause } = error;
  const isError = code !== "" && cause !== undefined;
  return {
    kind: kindOf(judge(error, status), status, isError),
    status,
    code: isError ? code : "",
    cause: isError ? cut(cause, MAX_CAUSE_LENGTH) : cut(text, MAX_TEXT_LENGTH),
  };
}

function kindOf(judgement: ReturnType<typeof judge>, status: number, isError: boolean): Rejection["kind"] {
  if (judgement === "denied") return "unauthenticated";
  if (judgement === "forbidden") return "forbidden";
  // A participant without the endpoint.
  if (status === 501) return "unknown";
  if (judgement === "busy" || judgement === "internal") return "transient";
  return isError && status >= 400 && status < 500 ? "rejected" : "unknown";
}

/** Cutting a surrogate pair in half would give a string that protobuf cannot encode. */
const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text.toWellFormed();
