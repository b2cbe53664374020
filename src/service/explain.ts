/** Explains a request: runs it with a recorder, and tells how its answer was found. */
import type {
  Call,
  ChangeSchema,
  ContractSchema,
  ExplainRequest,
  ExplainResponseSchema,
  RequirementSchema,
  SearchSchema,
} from "../../gen/offledger/explain/v1/explain_pb.js";
import { ExplainService } from "../../gen/offledger/explain/v1/explain_service_pb.js";
import { helpFor } from "../domain/causes.js";
import { type Contract, packageIdOf } from "../domain/contract.js";
import { type Cause, causesOf, formatValue, invalidField, refuse, type RegistryError } from "../domain/errors.js";
import type { JsonObject } from "../util/json.js";
import type { Preparer } from "../domain/ledger.js";
import { isPartyId } from "../domain/party.js";
import type { ExplainedCandidate, ExplainedRequirement, ExplainedSearch, Explanation } from "./explanation.js";
import type { ContextResult } from "../registry/sdk/registry.js";
import { causeMessage, timestamp } from "./messages.js";
import { type CallContext, prepare } from "./prepare.js";
import { bind, type ServiceBinding } from "./service-binding.js";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";

export interface ExplainOptions {
  readonly explainer: Explainer;
  readonly refusals: KeptRefusals;
  readonly packageVersion: PackageVersion;
  /** Undefined where no participant with a user who may prepare is configured. */
  readonly preparer: Preparer | undefined;
}

export function explain(options: ExplainOptions): ServiceBinding {
  const { explainer, refusals, packageVersion, preparer } = options;
  return bind(ExplainService, {
    async explain(request) {
      const at = request.at && timestampMs(request.at);
      return explanationMessage(await explainer.explain(callOf(request, refusals), at), packageVersion, at);
    },
    prepare: (request) => prepare(request, (call) => contextOf(explainer, call), preparer),
  });
}

function callOf({ call, requestId }: ExplainRequest, refusals: KeptRefusals): ExplainedCall {
  if (call === undefined && requestId === "") throw invalidField("call", "is missing, and so is requestId");
  if (call === undefined) return keptCall(requestId, refusals);
  if (requestId !== "") throw invalidField("requestId", "must be empty with call");
  return { operation: call.operation, request: call.request ?? {} };
}

/** The answer to a call. Throws the error of the request if it is refused. */
async function contextOf(explainer: Explainer, { operation, request = {} }: Call): Promise<CallContext> {
  const { refusal, context, offset } = await explainer.explain({ operation, request }, undefined);
  if (refusal !== undefined) throw refusal.error;
  if (context !== undefined && offset !== undefined) return { ...context, offset };
  throw invalidField("call.operation", `is ${operation}, whose answer has no choice context`);
}

function keptCall(requestId: string, refusals: KeptRefusals): ExplainedCall {
  const kept = refusals.find(requestId);
  if (kept === undefined) {
    throw refuse(
      "request-unknown",
      `no refused request ${requestId} is kept: this process has the latest 200, and only those that the rules refused`,
    );
  }
  const { operation, request } = kept;
  if (request !== undefined) return { operation, request };
  throw refuse("request-too-large", `request ${requestId} was too large to keep: pass it as \`call\``);
}

export interface ExplainedCall {
  /** The full name of the rpc, or method and path of its REST form. */
  readonly operation: string;
  readonly request: JsonObject;
}

/** A request that was run for its explanation. */
export interface Explained {
  /** The full name of the rpc. */
  readonly operation: string;
  readonly request: JsonObject;
  /** The time as at which it was answered, in milliseconds since 1970. */
  readonly at: number;
  /** Undefined if nothing was looked up. */
  readonly offset: number | undefined;
  /** The answer as JSON, as over REST. Undefined if the request is refused. */
  readonly answer: JsonObject | undefined;
  /** The answer, if it has a choice context. */
  readonly context: ExplainedContext | undefined;
  /** Undefined if the request succeeds. */
  readonly refusal: ExplainedRefusal | undefined;
  /** In microseconds since 1970; undefined if time does not change the answer. */
  readonly validUntil: number | undefined;
  readonly explanation: Explanation | undefined;
}

export interface ExplainedContext extends ContextResult {
  /** Undefined if the request asks for no factory. */
  readonly factoryId: string | undefined;
}

export interface ExplainedRefusal {
  readonly error: RegistryError;
  /** The name of the code, such as `not_found`. */
  readonly status: string;
}

/** Runs requests as the public port does, and records how they are answered. */
export interface Explainer {
  /** `at` is in milliseconds since 1970; undefined for now. Rejects with "invalid" if there is no such operation. */
  explain(call: ExplainedCall, at: number | undefined): Promise<Explained>;
}

/** The refused requests that are kept. */
interface KeptRefusals {
  /** Undefined for an id that is not kept. `request` is undefined if it was too large to keep. */
  find(requestId: string): { readonly operation: string; readonly request: JsonObject | undefined } | undefined;
}

const MICROS_PER_MS = 1_000;

/** `asked` is the time for which the explanation was asked, in milliseconds since 1970; undefined for now. */
function explanationMessage(
  { operation, request, at, offset = 0, answer, refusal, validUntil, explanation }: Explained,
  packageVersion: PackageVersion,
  asked: number | undefined,
): MessageInitShape<typeof ExplainResponseSchema> {
  const { searches = [], requirements = [], disclosures = [], notes = [] } = explanation ?? {};
  const causes = refusal === undefined ? [] : causesOf(refusal.error);
  return {
    operation,
    request,
    at: timestamp(at * MICROS_PER_MS),
    offset: BigInt(offset),
    succeeds: refusal === undefined,
    ...(answer !== undefined && { answer }),
    status: refusal?.status ?? "",
    error: refusal?.error.message ?? "",
    causes: causes.map(causeMessage),
    changes: causes.flatMap((cause) => changeMessage(cause, asked)),
    notes: [...notes],
    searches: searches.map((search) => searchMessage(search, packageVersion)),
    requirements: requirements.map((requirement) => requirementMessage(requirement, packageVersion)),
    disclosures:
      refusal === undefined
        ? disclosures.map(({ contract, entries }) => ({ contract: contractMessage(contract, packageVersion), entries }))
        : [],
    ...(validUntil !== undefined && { validUntil: timestamp(validUntil) }),
  };
}

/** Empty if there is nothing to do about the cause: the request itself is wrong. */
function changeMessage(cause: Cause, asked: number | undefined): MessageInitShape<typeof ChangeSchema>[] {
  const noParty = [cause.registrar, cause.party].find((name) => name !== undefined && !isPartyId(name));
  const help =
    noParty === undefined
      ? helpFor(cause, asked)
      : `Name a party by its id, hint::fingerprint: ${formatValue(noParty)} is none`;
  return help === "" ? [] : [{ cause: causeMessage(cause), help: `${help}.` }];
}

const searchMessage = (
  search: ExplainedSearch,
  packageVersion: PackageVersion,
): MessageInitShape<typeof SearchSchema> => ({
  ...search,
  candidates: candidateMessages(search.candidates, packageVersion),
});

const requirementMessage = (
  requirement: ExplainedRequirement,
  packageVersion: PackageVersion,
): MessageInitShape<typeof RequirementSchema> => ({
  ...requirement,
  claims: requirement.claims.map(({ validUntil, passedOver, ...claim }) => ({
    ...claim,
    ...(validUntil !== undefined && { validUntil: timestamp(validUntil) }),
    passedOver: candidateMessages(passedOver, packageVersion),
  })),
});

/** Versions by package id, as the operator gives them. */
export type PackageVersion = (packageId: string) => string | undefined;

export function contractMessage(
  contract: Contract,
  versionOf: PackageVersion,
): MessageInitShape<typeof ContractSchema> {
  const { contractId, template, templateId, synchronizerId = "", createdMicros } = contract;
  const packageId = packageIdOf(templateId);
  return {
    contractId,
    template: template.qualifiedName,
    packageId,
    packageName: template.packageName,
    packageVersion: versionOf(packageId) ?? "",
    synchronizer: synchronizerId,
    createdAt: timestamp(createdMicros),
  };
}

const candidateMessages = (candidates: readonly ExplainedCandidate[], versionOf: PackageVersion) =>
  candidates.map(({ contract, ...candidate }) => ({ ...candidate, contract: contractMessage(contract, versionOf) }));
