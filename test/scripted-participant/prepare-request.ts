/** Reads a request to prepare a transaction, by the published document and Canton's own checks. */
import type { JsonValue } from "../../src/domain/json.js";
import { refusal } from "./errors.js";
import { malformedTemplate } from "./filters.js";
import { array, DecodingError, flag, object, optional, requireFields, text } from "./json-decoding.js";

export interface Preparation {
  readonly userId: string | undefined;
  readonly commandId: string;
  readonly templateId: string;
  /** Undefined for a creation. */
  readonly contractId: string | undefined;
  /** Of the choice, or to create. */
  readonly argument: JsonValue;
  readonly actAs: readonly string[];
  /** Those whose contracts it may use. */
  readonly parties: readonly string[];
  readonly disclosedContracts: readonly Disclosed[];
  /** Empty if the participant chooses. */
  readonly synchronizerId: string;
  /** Whether the traffic is estimated. */
  readonly estimates: boolean;
}

interface Disclosed {
  readonly contractId: string | undefined;
  readonly synchronizerId: string | undefined;
}

export function prepareRequest(body: JsonValue): Preparation {
  const request = object(body, "");
  requireFields(request, ["commandId", "actAs", "commands", "synchronizerId", "packageIdSelectionPreference"]);
  const commands = array(request.commands, "commands").map((command) => object(command, "commands[]"));
  const commandId = filled(text(request.commandId, "commandId"), "command_id");
  const synchronizerId = text(request.synchronizerId, "synchronizerId");
  array(request.packageIdSelectionPreference, "packageIdSelectionPreference");
  const actAs = texts(request.actAs, "actAs");
  if (actAs.length === 0) throw missing("act_as/actAs");
  const [command, second] = commands;
  if (command === undefined) throw missing("commands");
  if (second !== undefined) {
    const cause = "The participant failed to prepare the transaction: Preparing multiple commands is not supported";
    throw refusal("FAILED_TO_PREPARE_TRANSACTION", cause);
  }
  const hints = optional(request.estimateTrafficCost, "estimateTrafficCost", object);
  return {
    userId: optional(request.userId, "userId", text),
    commandId,
    ...(command.CreateCommand === undefined
      ? exercise(object(command.ExerciseCommand, "commands[0].ExerciseCommand"))
      : creation(object(command.CreateCommand, "commands[0].CreateCommand"))),
    actAs,
    parties: [...actAs, ...(optional(request.readAs, "readAs", texts) ?? [])],
    disclosedContracts: (optional(request.disclosedContracts, "disclosedContracts", array) ?? []).map(disclosed),
    synchronizerId,
    estimates: optional(hints?.disabled, "estimateTrafficCost.disabled", flag) !== true,
  };
}

function exercise({ templateId, contractId, choice, choiceArgument }: { [name: string]: JsonValue }) {
  filled(text(choice, "choice"), "choice");
  return {
    templateId: template(templateId, "ExerciseCommand"),
    contractId: filled(text(contractId, "contractId"), "contract_id"),
    argument: object(choiceArgument, "choiceArgument"),
  };
}

function creation({ templateId, createArguments }: { [name: string]: JsonValue }) {
  return {
    templateId: template(templateId, "CreateCommand"),
    contractId: undefined,
    argument: object(createArguments, "createArguments"),
  };
}

function template(value: JsonValue | undefined, command: string): string {
  const where = `commands[0].${command}.templateId`;
  const id = text(value, where);
  if (!/^[^:]+:[\w.]+:\w+$/.test(id)) throw new DecodingError([where, malformedTemplate(id)]);
  return id;
}

function disclosed(value: JsonValue): Disclosed {
  const { contractId, createdEventBlob, synchronizerId } = object(value, "disclosedContracts[]");
  filled(text(createdEventBlob, "createdEventBlob"), "created_event_blob");
  return {
    contractId: optional(contractId, "contractId", text),
    synchronizerId: optional(synchronizerId, "synchronizerId", text),
  };
}

const texts = (value: JsonValue | undefined, where: string): string[] =>
  array(value, where).map((item) => text(item, `${where}[]`));

function filled(value: string, field: string): string {
  if (value === "") throw missing(field);
  return value;
}

const missing = (field: string) =>
  refusal("MISSING_FIELD", `The submitted command is missing a mandatory field: ${field}`);
