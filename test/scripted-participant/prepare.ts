/**
 * Prepares a transaction of one command. Daml is not interpreted: a test injects a failure of a choice as a fault. What
 * is checked is the request, by the published document and Canton's own checks, and that each contract that it names can
 * be found.
 */
import { createHash } from "node:crypto";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { z } from "zod";
import type { JsonValue } from "../../src/util/json.js";
import { refusal } from "./errors.js";
import { malformedTemplate } from "./events.js";
import type { ScriptedLedger } from "./ledger.js";
import { ABSENT, type PrepareResponse } from "./messages.js";
import { anyObject, flag, maybe, list, object, read, text } from "./requests.js";

export interface Preparation {
  readonly userId?: string | undefined;
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
  readonly contractId?: string | undefined;
  readonly synchronizerId?: string | undefined;
}

const template = text.regex(/^[^:]+:[\w.]+:\w+$/, { error: ({ input }) => malformedTemplate(String(input)) });
const command = z.union([
  object({
    ExerciseCommand: object({ templateId: template, contractId: text, choice: text, choiceArgument: anyObject }),
  }),
  object({ CreateCommand: object({ templateId: template, createArguments: anyObject }) }),
]);

const prepareSchema = object({
  userId: maybe(text),
  commandId: text,
  actAs: list(text),
  readAs: maybe(list(text)),
  commands: list(command),
  disclosedContracts: maybe(
    list(object({ contractId: maybe(text), createdEventBlob: text, synchronizerId: maybe(text) })),
  ),
  synchronizerId: text,
  packageIdSelectionPreference: list(text),
  estimateTrafficCost: maybe(object({ disabled: maybe(flag) })),
});

export function prepareRequest(body: JsonValue): Preparation {
  const request = read(prepareSchema, body);
  const { actAs, readAs = [], commands, disclosedContracts = [] } = request;
  filled(request.commandId, "command_id");
  if (actAs.length === 0) throw missing("act_as/actAs");
  const [first, second] = commands;
  if (first === undefined) throw missing("commands");
  if (second !== undefined) {
    const cause = "The participant failed to prepare the transaction: Preparing multiple commands is not supported";
    throw refusal("FAILED_TO_PREPARE_TRANSACTION", cause);
  }
  for (const { createdEventBlob } of disclosedContracts) filled(createdEventBlob, "created_event_blob");
  return {
    ...request,
    ...commandOf(first),
    parties: [...actAs, ...readAs],
    disclosedContracts,
    estimates: request.estimateTrafficCost?.disabled !== true,
  };
}

function commandOf(given: z.infer<typeof command>): Pick<Preparation, "templateId" | "contractId" | "argument"> {
  if ("CreateCommand" in given) {
    const { createArguments, ...created } = given.CreateCommand;
    return { ...created, contractId: undefined, argument: createArguments };
  }
  const { contractId, choice, choiceArgument, ...exercised } = given.ExerciseCommand;
  filled(choice, "choice");
  filled(contractId, "contract_id");
  return { ...exercised, contractId, argument: choiceArgument };
}

function filled(value: string, field: string): void {
  if (value === "") throw missing(field);
}

const missing = (field: string) =>
  refusal("MISSING_FIELD", `The submitted command is missing a mandatory field: ${field}`);

/** The traffic of a prepared transaction: its bytes, and those of a response. */
const RESPONSE_BYTES = 700;

export function prepare(
  request: Preparation,
  ledger: ScriptedLedger,
  packageNames: ReadonlySet<string> | undefined,
  parties: ReadonlySet<string> | undefined,
): PrepareResponse {
  const { contractId = "", argument, disclosedContracts, estimates } = request;
  checkSynchronizer(request.synchronizerId, ledger);
  checkTemplate(request.templateId, packageNames);
  if (parties !== undefined && !request.actAs.every((party) => parties.has(party))) {
    const cause = "The participant is not connected to any synchronizer where the given informees are known.";
    throw refusal("UNKNOWN_INFORMEES", cause);
  }
  const ids = contractId === "" ? [] : [contractId, ...contractIdsIn(argument)];
  for (const id of ids) requireContract(id, request, ledger);
  const [disclosed] = disclosedContracts;
  const synchronizerId =
    [request.synchronizerId, disclosed?.synchronizerId, ledger.contracts.get(contractId)?.synchronizerId].find(
      (id) => id !== undefined && id !== "",
    ) ?? ledger.synchronizerId;
  const transaction = transactionBytes(synchronizerId, request.commandId);
  const confirmationRequest = transaction.length + disclosedContracts.length * RESPONSE_BYTES;
  return {
    preparedTransaction: transaction.toString("base64"),
    preparedTransactionHash: createHash("sha256").update(transaction).digest("base64"),
    hashingSchemeVersion: "HASHING_SCHEME_VERSION_V2",
    hashingDetails: ABSENT,
    ...(estimates && {
      costEstimation: {
        estimationTimestamp: "2026-01-05T00:00:00Z",
        confirmationRequestTrafficCostEstimation: confirmationRequest,
        confirmationResponseTrafficCostEstimation: RESPONSE_BYTES,
        totalTrafficCostEstimation: confirmationRequest + RESPONSE_BYTES,
      },
    }),
  };
}

/** A logical synchronizer to which the participant is connected, or none. */
function checkSynchronizer(id: string, ledger: ScriptedLedger): void {
  if (id === "") return;
  if (id.split("::").length > 2) {
    const cause = "The submitted command has a field with invalid value: Invalid field synchronizer_id: reserved `::`";
    throw refusal("INVALID_FIELD", cause);
  }
  const known = [ledger.synchronizerId, ...ledger.log.between(0).map(({ synchronizerId }) => synchronizerId)];
  if (!known.includes(id)) {
    const cause = `Cannot submit transaction to prescribed synchronizer \`${id}\``;
    throw refusal("INVALID_PRESCRIBED_SYNCHRONIZER_ID", cause);
  }
}

/** A package id is a hash; a name follows `#`. Which templates a package has is not known here. */
function checkTemplate(templateId: string, packageNames: ReadonlySet<string> | undefined): void {
  const [reference = ""] = templateId.split(":");
  if (packageNames === undefined) return;
  if (!reference.startsWith("#")) {
    if (/^[0-9a-f]{64}$/.test(reference) && !/^0+$/.test(reference)) return;
    const resources = [["ErrorResource(TEMPLATE_ID)", templateId]] as const;
    throw refusal("TEMPLATES_OR_INTERFACES_NOT_FOUND", `Templates do not exist: [${templateId}].`, { resources });
  }
  const name = reference.slice(1);
  if (packageNames.has(name)) return;
  throw refusal(
    "PACKAGE_NAMES_NOT_FOUND",
    `The following package names do not match upgradable packages uploaded on this participant: [${name}].`,
  );
}

/** A contract has to be disclosed, or be active and visible to a party of the command. */
function requireContract(id: string, { parties, disclosedContracts }: Preparation, ledger: ScriptedLedger): void {
  if (disclosedContracts.some(({ contractId }) => contractId === id)) return;
  const contract = ledger.contracts.get(id);
  if (contract && [...contract.signatories, ...contract.observers].some((party) => parties.includes(party))) return;
  // The suffix of an id begins with its version. Scripted ids may be any text.
  if (/^00[0-9a-f]{64}/.test(id) && !/^00[0-9a-f]{64}(ca1[0-9a-f]|$)/.test(id)) {
    throw refusal("HIDDEN_INTERNAL_ERROR", "the suffix of the contract id has no known form");
  }
  throw refusal("CONTRACT_NOT_FOUND", `Contract could not be found with id ${id}`, {
    resources: [["ErrorResource(CONTRACT_ID)", id]],
  });
}

/** The contract ids in an argument, of values of the token standard: `{ tag: "AV_ContractId", value }`. */
function contractIdsIn(value: JsonValue): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (!Array.isArray(value) && value.tag === "AV_ContractId" && typeof value.value === "string") return [value.value];
  return Object.values(value).flatMap(contractIdsIn);
}

/** A PreparedTransaction with its metadata: the submitter's command id and the synchronizer. Its nodes are left out. */
function transactionBytes(synchronizerId: string, commandId: string): Buffer {
  const submitter = new BinaryWriter().tag(2, WireType.LengthDelimited).string(commandId).finish();
  const metadata = new BinaryWriter()
    .tag(2, WireType.LengthDelimited)
    .bytes(submitter)
    .tag(3, WireType.LengthDelimited)
    .string(synchronizerId)
    .finish();
  const transaction = new BinaryWriter().tag(1, WireType.LengthDelimited).string("2.1").finish();
  const message = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(transaction);
  return Buffer.from(message.tag(2, WireType.LengthDelimited).bytes(metadata).finish());
}
