import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ExplainRequest } from "../../../gen/offledger/explain/v1/explain_pb.js";
import { ExplainService } from "../../../gen/offledger/explain/v1/explain_service_pb.js";
import { invalidField, notFound } from "../../domain/errors.js";
import { bind, type Handlers, type ServiceBinding } from "../service-binding.js";
import type { PackageVersions } from "./contract-message.js";
import type { ExplainedCall, Explainer, KeptRefusals } from "./explainer.js";
import { explanationMessage } from "./explanation-message.js";

export interface ExplainOptions {
  readonly explainer: Explainer;
  readonly refusals: KeptRefusals;
  readonly packageVersions: PackageVersions;
  readonly prepare: Handlers<typeof ExplainService>["prepare"];
}

export function explain({ explainer, refusals, packageVersions, prepare }: ExplainOptions): ServiceBinding {
  return bind(ExplainService, {
    async explain({ subject, at }) {
      const explained = await explainer.explain(callOf(subject, refusals), timeOf(at));
      return explanationMessage(explained, packageVersions);
    },
    prepare,
  });
}

function callOf(subject: ExplainRequest["subject"], refusals: KeptRefusals): ExplainedCall {
  switch (subject.case) {
    case "call":
      return { operation: subject.value.operation, request: subject.value.request ?? {} };
    case "requestId":
      return keptCall(subject.value, refusals);
    default:
      throw invalidField("call", "is missing, and so is requestId: one of them says what to explain");
  }
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
