import { create } from "@bufbuild/protobuf";
import {
  type Call,
  type PrepareRequest,
  type PrepareResponse,
  PrepareResponseSchema,
} from "../../gen/offledger/explain/v1/explain_pb.js";
import { bodyOf, synchronizerOf } from "../domain/contract.js";
import { invalidField, unsupported } from "../domain/errors.js";
import { isObject, type JsonObject, type JsonValue } from "../util/json.js";
import type { Preparer, SubmittedDisclosure } from "../domain/ledger.js";
import { expectPartyId } from "../domain/party.js";
import type { Contract, ContextResult } from "../registry/sdk/registry.js";
import { contextJson } from "./messages.js";

/** The answer to a call that asks for a choice context or a factory. */
export interface CallContext extends ContextResult {
  /** Absent if the call does not ask for a factory. */
  readonly factoryId?: string | undefined;
  /** The offset of the contracts on the ledger. */
  readonly offset: number;
}

/** Answers a call as the public port does. Throws RegistryError as the operation, and "invalid" if it has no context. */
export type ContextOf = (call: Call) => Promise<CallContext>;

/**
 * Puts the context of an answer into a command, as a wallet does, and asks a participant for its verdict. Nothing is
 * submitted. `preparer` is undefined where none is configured. Throws RegistryError.
 */
export async function prepare(
  request: PrepareRequest,
  contextOf: ContextOf,
  preparer: Preparer | undefined,
): Promise<PrepareResponse> {
  if (preparer === undefined) {
    throw unsupported("no command can be tried: set OFFLEDGER_LEDGER_URL and OFFLEDGER_PREPARE_USER_ID");
  }
  const { call, actAs, templateId, choice, choiceArgument = {} } = request;
  if (call === undefined) throw invalidField("call", "is missing");
  for (const party of actAs) expectPartyId("actAs", party);
  const context = await contextOf(call);
  const contractId = request.contractId === "" ? context.factoryId : request.contractId;
  if (contractId === undefined) throw invalidField("contractId", "is missing: the answer to the call has no factory");
  const { trafficCost, ...verdict } = await preparer.prepare({
    actAs,
    templateId,
    contractId,
    choice,
    choiceArgument: withContext(choiceArgument, contextJson(context)),
    disclosedContracts: context.disclosed.map(disclosure),
  });
  return create(PrepareResponseSchema, {
    ...verdict,
    offset: BigInt(context.offset),
    ...(trafficCost === undefined ? {} : { trafficCost: BigInt(trafficCost) }),
  });
}

/** The argument with the values in `extraArgs.context.values`. Values that it has already are kept. */
function withContext(argument: JsonObject, values: JsonObject): JsonObject {
  const extraArgs = objectAt(argument.extraArgs, "choiceArgument.extraArgs");
  const context = objectAt(extraArgs.context, "choiceArgument.extraArgs.context");
  const own = objectAt(context.values, "choiceArgument.extraArgs.context.values");
  const meta = extraArgs.meta ?? { values: {} };
  return { ...argument, extraArgs: { ...extraArgs, context: { ...context, values: { ...values, ...own } }, meta } };
}

function objectAt(value: JsonValue | undefined, path: string): JsonObject {
  if (value === undefined || value === null) return {};
  if (isObject(value)) return value;
  throw invalidField(path, "must be an object");
}

function disclosure(contract: Contract): SubmittedDisclosure {
  const { templateId, contractId } = contract;
  const { createdEventBlob } = bodyOf(contract);
  return { templateId, contractId, createdEventBlob, synchronizerId: synchronizerOf(contract) };
}
