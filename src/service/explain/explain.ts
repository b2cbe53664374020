import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Call, ExplainRequest } from "../../../gen/offledger/explain/v1/explain_pb.js";
import { ExplainService } from "../../../gen/offledger/explain/v1/explain_service_pb.js";
import { invalidField, notFound } from "../../domain/errors.js";
import type { Preparer } from "../../domain/ledger.js";
import { type CallContext, prepare } from "../prepare.js";
import { bind, type ServiceBinding } from "../service-binding.js";
import type { PackageVersion } from "./contract-message.js";
import type { ExplainedCall, Explainer, KeptRefusals } from "./explainer.js";
import { explanationMessage } from "./explanation-message.js";

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
      const at = timeOf(request.at);
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
    throw notFound(
      `no refused request ${requestId} is kept: this process has the latest 200, and only those that the rules refused`,
      { code: "request-unknown" },
    );
  }
  const { operation, request } = kept;
  if (request !== undefined) return { operation, request };
  throw notFound(`request ${requestId} was too large to keep: pass it as \`call\``, { code: "request-too-large" });
}

/** In milliseconds since 1970. */
const timeOf = (at: Timestamp | undefined): number | undefined => (at === undefined ? undefined : timestampMs(at));
