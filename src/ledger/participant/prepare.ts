import { randomUUID } from "node:crypto";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { invalidField, unavailable, unsupported } from "../../domain/errors.js";
import type { JsonObject, JsonValue } from "../../domain/json.js";
import type { ExerciseCommand, Preparer, SubmittedDisclosure, Verdict } from "../../domain/ledger.js";
import { fieldsOf, parseJson } from "../json-fields.js";
import { judge, LedgerError, readApiError } from "./errors.js";
import { type Endpoint, endpointUrl, type HttpResponse, readToken, sendRequest } from "./http.js";

/** The only path that this file calls. A prepared transaction is neither signed nor executed: see docs/security.md. */
const PATH = "/v2/interactive-submission/prepare";

/** Longer than for other calls: the participant interprets the command. */
const TIMEOUT_MS = 20_000;

/** Interpretation takes processor time of the participant. */
const MAX_CONCURRENT = 4;

/**
 * Has a participant prepare commands as one of its users. The answer is at most 8 MiB, as of every call of http.ts.
 * Nothing is logged: a command holds a caller's data.
 */
export class ParticipantPreparer implements Preparer {
  readonly #endpoint: Endpoint;
  readonly #userId: string;
  #inFlight = 0;

  /** The token of the endpoint has to be the user's, if the participant authenticates. */
  constructor(endpoint: Endpoint, userId: string) {
    this.#endpoint = endpoint;
    this.#userId = userId;
  }

  async prepare(command: ExerciseCommand): Promise<Verdict> {
    // The participant answers such an id with a text, not with an error of its API.
    if (!TEMPLATE_ID.test(command.templateId)) {
      throw invalidField("templateId", "must be #package-name:Module:Entity, or have the id of a package");
    }
    if (this.#inFlight >= MAX_CONCURRENT) throw unavailable(`${MAX_CONCURRENT} commands are being prepared`);
    this.#inFlight++;
    try {
      const token = await this.#readToken();
      const response = await this.#send(command, token);
      return this.#verdict(response, command, token !== undefined);
    } finally {
      this.#inFlight--;
    }
  }

  async #readToken(): Promise<string | undefined> {
    try {
      return await readToken(this.#endpoint);
    } catch (error) {
      // The message of the error has the path of the file.
      if (!(error instanceof LedgerError)) throw error;
      throw unavailable(`the token of user ${this.#userId} cannot be read: check OFFLEDGER_PREPARE_TOKEN_FILE`);
    }
  }

  async #send(command: ExerciseCommand, token: string | undefined): Promise<HttpResponse> {
    const { ca, signal, timeouts } = this.#endpoint;
    try {
      return await sendRequest(endpointUrl(this.#endpoint, PATH), {
        method: "POST",
        ca,
        signal,
        timeout: timeouts?.answer ?? TIMEOUT_MS,
        headers: {
          accept: "application/json",
          "content-type": "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(requestOf(command, this.#userId)),
      });
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error;
      throw unavailable(`the participant cannot be asked: ${error.message}`);
    }
  }

  #verdict({ status, text }: HttpResponse, { actAs }: ExerciseCommand, hasToken: boolean): Verdict {
    const body = parseJson(text);
    if (status >= 200 && status < 300) {
      const verdict = readPrepared(body);
      if (verdict === undefined) throw unavailable(`the participant's answer to ${PATH} is not a prepared transaction`);
      return verdict;
    }
    const rejection = readRejection(status, body, text);
    const { kind, code, cause } = rejection;
    if (kind === "rejected") {
      return { succeeds: false, error: cause, errorCode: code, synchronizer: "", trafficCost: undefined };
    }
    if (kind === "forbidden" || kind === "unauthenticated") {
      throw unavailable(this.#denial(rejection, actAs, hasToken));
    }
    if (kind === "transient") {
      // So a participant answers a contract id that has the form of an id, and is none.
      const hint = code === "NA" ? " (also for a contract id that no ledger gives)" : "";
      throw unavailable(`the participant cannot prepare now: ${describe(rejection)}${hint}`);
    }
    if ([404, 405, 501].includes(status)) throw unsupported(`the participant has no ${PATH} (status ${status})`);
    throw unavailable(`the participant does not understand the request: ${describe(rejection)}`);
  }

  #denial({ kind, status }: Rejection, actAs: readonly string[], hasToken: boolean): string {
    const user = `user ${this.#userId}`;
    if (kind === "forbidden") {
      return (
        `the participant does not let ${user} prepare as ${actAs.join(", ")} (status 403): ` +
        "the user needs the right to read as each of these parties, and the token must be that user's"
      );
    }
    if (hasToken) {
      return `the participant does not accept the token of ${user} (status ${status}): renew OFFLEDGER_PREPARE_TOKEN_FILE, with a token that lives no longer than the participant allows`;
    }
    return `the participant requires a token of ${user} (status ${status}): set OFFLEDGER_PREPARE_TOKEN_FILE`;
  }
}

/** `package:Module:Entity`, where the package is an id, or a name after `#`. */
const TEMPLATE_ID = /^#?[^:#\s]+(:[^:#\s]+){2}$/;

/** A new command id each time: the participant must not take a second trial for a repetition of the first. */
function requestOf(command: ExerciseCommand, userId: string): JsonObject {
  const { actAs, templateId, contractId, choice, choiceArgument, disclosedContracts } = command;
  return {
    userId,
    commandId: `offledger-prepare-${randomUUID()}`,
    actAs: [...actAs],
    readAs: [],
    commands: [{ ExerciseCommand: { templateId, contractId, choice, choiceArgument } }],
    disclosedContracts: disclosedContracts.map(disclosureOf),
    // Required, although the published document calls them optional. Empty: the participant chooses.
    synchronizerId: "",
    packageIdSelectionPreference: [],
    verboseHashing: false,
  };
}

function disclosureOf({ templateId, contractId, createdEventBlob, synchronizerId }: SubmittedDisclosure): JsonObject {
  return { templateId, contractId, createdEventBlob, synchronizerId: logicalSynchronizer(synchronizerId) };
}

const describe = ({ status, code, cause }: Rejection): string =>
  [`status ${status}`, ...(code === "" ? [] : [code])].join(", ") + (cause === "" ? "" : `: ${cause}`);

/** A response to a command that is not a success. */
interface Rejection {
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
function readRejection(status: number, body: JsonValue | undefined, text: string): Rejection {
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

/** `PreparedTransaction.metadata` and `Metadata.synchronizer_id` in interactive_submission_service.proto of Canton 3.5. */
const METADATA = 2;
const SYNCHRONIZER_ID = 3;

/** The verdict of a successful response; undefined if it is not one. The transaction itself is dropped. */
function readPrepared(body: JsonValue | undefined): Verdict | undefined {
  const { preparedTransaction, costEstimation } = fieldsOf(body);
  if (typeof preparedTransaction !== "string" || preparedTransaction === "") return undefined;
  const { totalTrafficCostEstimation: cost } = fieldsOf(costEstimation);
  return {
    succeeds: true,
    error: "",
    errorCode: "",
    synchronizer: synchronizerOf(preparedTransaction),
    trafficCost: typeof cost === "number" && Number.isSafeInteger(cost) ? cost : undefined,
  };
}

/**
 * The synchronizer of a prepared transaction, which is protobuf in base64. Empty if it cannot be read: the verdict does
 * not depend on it, and a later version of the participant may encode it differently.
 */
function synchronizerOf(preparedTransaction: string): string {
  try {
    const metadata = fieldOf(Buffer.from(preparedTransaction, "base64"), METADATA);
    const id = metadata && fieldOf(metadata, SYNCHRONIZER_ID);
    return id === undefined ? "" : logicalSynchronizer(new TextDecoder("utf-8", { fatal: true }).decode(id));
  } catch {
    return "";
  }
}

/** Without the suffix of a physical synchronizer, `::35-0`, which no request takes and no contract has. */
const logicalSynchronizer = (synchronizerId: string): string =>
  /^[^:]+::[^:]+/.exec(synchronizerId)?.[0] ?? synchronizerId;

/** The first field with a number and with a length: a message or a string. Throws if the bytes are not protobuf. */
function fieldOf(message: Uint8Array, number: number): Uint8Array | undefined {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === number && type === WireType.LengthDelimited) return reader.bytes();
    reader.skip(type, field);
  }
  return undefined;
}
