import { randomUUID } from "node:crypto";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { invalidField, unavailable, unsupported } from "../../domain/errors.js";
import type { JsonObject, JsonValue } from "../../util/json.js";
import type { ExerciseCommand, Preparer, SubmittedDisclosure, Verdict } from "../../domain/ledger.js";
import { foreignAnswer, type HttpResponse } from "../../util/outgoing.js";
import { fieldsOf, parseJson } from "../json-fields.js";
import { judge, LedgerError, readApiError } from "./errors.js";
import { type Endpoint, endpointUrl, readToken, requestOnce } from "./http.js";

/** The only path that this file calls. A prepared transaction is neither signed nor executed: see docs/security.md. */
const PATH = "/v2/interactive-submission/prepare";

/** Longer than for other calls: the participant interprets the command. */
const TIMEOUT_MS = 20_000;

/** Interpretation takes processor time of the participant. */
const MAX_CONCURRENT = 4;

/** Of an error of the participant: a Daml exception may have a long payload. */
const MAX_CAUSE_LENGTH = 4_000;
/** Of a response that is not an error of the API. */
const MAX_TEXT_LENGTH = 300;

/**
 * Has a participant prepare commands as one of its users. The answer is at most 8 MiB, as of every call of http.ts.
 * Nothing is logged: a command holds a caller's data.
 */
export class ParticipantPreparer implements Preparer {
  #inFlight = 0;

  /** The token of the endpoint has to be the user's, if the participant authenticates. */
  constructor(
    private readonly endpoint: Endpoint,
    private readonly userId: string,
  ) {}

  async prepare(command: ExerciseCommand): Promise<Verdict> {
    // The participant answers such an id with a text, not with an error of its API.
    if (!TEMPLATE_ID.test(command.templateId)) {
      throw invalidField("templateId", "must be #package-name:Module:Entity, or have the id of a package");
    }
    if (this.#inFlight >= MAX_CONCURRENT) throw unavailable(`${MAX_CONCURRENT} commands are being prepared`);
    this.#inFlight++;
    try {
      const token = await this.#readToken();
      const request = requestOf(command, this.userId);
      const response = await requestOnce(this.endpoint, token, "POST", PATH, request, TIMEOUT_MS).catch(cannotBeAsked);
      return this.#verdict(response, command, token !== undefined);
    } finally {
      this.#inFlight--;
    }
  }

  async #readToken(): Promise<string | undefined> {
    try {
      return await readToken(this.endpoint);
    } catch (error) {
      // The message of the error has the path of the file.
      if (!(error instanceof LedgerError)) throw error;
      throw unavailable(`the token of user ${this.userId} cannot be read: check OFFLEDGER_PREPARE_TOKEN_FILE`);
    }
  }

  #verdict(response: HttpResponse, { actAs }: ExerciseCommand, hasToken: boolean): Verdict {
    const { status, text } = response;
    const body = parseJson(text);
    const foreign = foreignAnswer(response, endpointUrl(this.endpoint, PATH));
    if (status >= 200 && status < 300) {
      const verdict = readPrepared(body);
      if (verdict !== undefined) return verdict;
      const found = foreign === undefined ? "" : `, but ${foreign}`;
      throw unavailable(`the participant's answer to ${PATH} is not a prepared transaction${found}`);
    }
    const error = readApiError(body);
    const { code = "", cause } = error;
    const isApiError = code !== "" && cause !== undefined;
    const judgement = judge(error, status);
    if (judgement === "denied" || judgement === "forbidden") {
      throw unavailable(this.#denial(judgement, status, actAs, hasToken));
    }
    const answered = isApiError
      ? `status ${status}, ${code}: ${cut(cause, MAX_CAUSE_LENGTH)}`
      : `status ${status}${foreign !== undefined ? `, ${foreign}` : text === "" ? "" : `: ${cut(text, MAX_TEXT_LENGTH)}`}`;
    // 501: a participant without the endpoint.
    if (status !== 501 && (judgement === "busy" || judgement === "internal")) {
      // So a participant answers a contract id that has the form of an id, and is none.
      const hint = code === "NA" && isApiError ? " (also for a contract id that no ledger gives)" : "";
      throw unavailable(`the participant cannot prepare now: ${answered}${hint}`);
    }
    if (isApiError && status >= 400 && status < 500) {
      const shown = cut(cause, MAX_CAUSE_LENGTH);
      return { succeeds: false, error: shown, errorCode: code, synchronizer: "", trafficCost: undefined };
    }
    if ([404, 405, 501].includes(status)) throw unsupported(`the participant has no ${PATH} (status ${status})`);
    throw unavailable(`the participant does not understand the request: ${answered}`);
  }

  #denial(judgement: "denied" | "forbidden", status: number, actAs: readonly string[], hasToken: boolean): string {
    const user = `user ${this.userId}`;
    if (judgement === "forbidden") {
      return (
        `the participant does not let ${user} prepare as ${actAs.join(", ")} (status 403): ` +
        "the user, which may be unknown or deactivated, needs the right to read as each of these parties, " +
        "and the token must be that user's"
      );
    }
    if (hasToken) {
      return `the participant does not accept the token of ${user} (status ${status}): renew OFFLEDGER_PREPARE_TOKEN_FILE, with a token that lives no longer than the participant allows`;
    }
    return `the participant requires a token of ${user} (status ${status}): set OFFLEDGER_PREPARE_TOKEN_FILE`;
  }
}

function cannotBeAsked(error: unknown): never {
  throw error instanceof LedgerError ? unavailable(`the participant cannot be asked: ${error.message}`) : error;
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
