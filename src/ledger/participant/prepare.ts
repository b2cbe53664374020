import { randomUUID } from "node:crypto";
import { invalidField, unavailable, unsupported } from "../../domain/errors.js";
import type { JsonObject, JsonValue } from "../../domain/json.js";
import type { ExerciseCommand, Preparer, SubmittedDisclosure, Verdict } from "../../domain/ledger.js";
import { LedgerError } from "./errors.js";
import { endpointUrl, type Endpoint, type HttpResponse, readToken, sendRequest } from "./http.js";
import { logicalSynchronizer, readPrepared } from "./prepared-transaction.js";
import { readRejection, type Rejection } from "./rejection.js";

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

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
