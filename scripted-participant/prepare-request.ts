/** Reads a request to prepare a transaction, by the published document and Canton's own checks. */
import type { JsonValue } from "../src/domain/json.js";
import { refusal } from "./errors.js";
import { array, flag, object, optional, text } from "./json-decoding.js";

export interface Preparation {
  readonly userId: string | undefined;
  readonly commandId: string;
  readonly command: { readonly contractId: string; readonly choice: string; readonly choiceArgument: JsonValue };
  readonly actAs: readonly string[];
  /** Those whose contracts it may use. */
  readonly parties: readonly string[];
  readonly disclosedContracts: readonly Disclosed[];
  readonly synchronizerId: string | undefined;
  /** Whether the traffic is estimated. */
  readonly estimates: boolean;
}

interface Disclosed {
  readonly contractId: string | undefined;
  readonly synchronizerId: string | undefined;
}

export function prepareRequest(body: JsonValue): Preparation {
  const request = object(body, "");
  const commands = array(request.commands, "commands").map((command) => object(command, "commands[]"));
  const commandId = filled(text(request.commandId, "commandId"), "command_id");
  const actAs = texts(request.actAs, "actAs");
  if (actAs.length === 0) throw missing("party or act_as");
  const [command, second] = commands;
  if (command === undefined) throw missing("commands");
  if (second !== undefined) throw refusal("INVALID_ARGUMENT", "Preparing multiple commands is not supported");
  const hints = optional(request.estimateTrafficCost, "estimateTrafficCost", object);
  return {
    userId: optional(request.userId, "userId", text),
    commandId,
    command: exercise(object(command.ExerciseCommand, "commands[].ExerciseCommand")),
    actAs,
    parties: [...actAs, ...(optional(request.readAs, "readAs", texts) ?? [])],
    disclosedContracts: (optional(request.disclosedContracts, "disclosedContracts", array) ?? []).map(disclosed),
    synchronizerId: optional(request.synchronizerId, "synchronizerId", text),
    estimates: optional(hints?.disabled, "estimateTrafficCost.disabled", flag) !== true,
  };
}

function exercise({ templateId, contractId, choice, choiceArgument }: { [name: string]: JsonValue }) {
  const template = text(templateId, "templateId");
  if (!/^[^:]+:[\w.]+:\w+$/.test(template)) throw refusal("INVALID_ARGUMENT", `Invalid template id: ${template}`);
  return {
    contractId: filled(text(contractId, "contractId"), "contract_id"),
    choice: filled(text(choice, "choice"), "choice"),
    choiceArgument: object(choiceArgument, "choiceArgument"),
  };
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
