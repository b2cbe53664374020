/** What the console shows, beside the contracts. The composition root has it. */
import type {
  FreshnessPointSchema,
  GetRequestsResponseSchema,
  OperationCountSchema,
  WarningSchema,
} from "../../gen/offledger/console/v1/console_pb.js";
import type { CallSchema } from "../../gen/offledger/explain/v1/explain_pb.js";
import { httpStatus } from "../domain/causes.js";
import type { Cause } from "../domain/errors.js";
import type { JsonObject } from "../util/json.js";
import type { ChoiceCall, Warning } from "../registry/sdk/registry.js";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { contractFieldOf, OPERATION_RPCS } from "./operations.js";

export interface ConsoleData {
  readonly version: string;
  /** The origin of the contracts. */
  readonly source: string;
  /** See SourceStatus. */
  readonly foreign: () => number | undefined;
  /** Undefined if the service is ready. */
  readonly notReadyReason: () => string | undefined;
  /** The latest warnings; undefined before the first check. */
  readonly warnings: () => { readonly total: number; readonly warnings: readonly Warning[] } | undefined;
  /** Oldest first. */
  readonly freshness: () => FreshnessPoint[];
  readonly requests: () => Promise<MessageInitShape<typeof GetRequestsResponseSchema>>;
  readonly refusals: () => readonly RefusedRequest[];
}

/** As messages. */
export type FreshnessPoint = MessageInitShape<typeof FreshnessPointSchema>;
export type OperationCount = MessageInitShape<typeof OperationCountSchema>;

export interface RefusedRequest {
  readonly requestId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Full name of the rpc. */
  readonly operation: string;
  readonly protocol: string;
  /** The name of the error in snake_case. */
  readonly status: string;
  readonly message: string;
  readonly causes: readonly Cause[];
  /** Undefined if it was too large to keep. */
  readonly request: JsonObject | undefined;
}

/** The request for the context of a choice; undefined if there is no operation for it. */
export function choiceCallMessage({ choice, query }: ChoiceCall): MessageInitShape<typeof CallSchema> | undefined {
  // Version 1 alone: what version 2 adds, nothing that the console shows can answer.
  const rpc = OPERATION_RPCS.find(({ operation, version }) => operation === choice && version !== "v2");
  if (rpc === undefined) return undefined;
  const { parent, name, input } = rpc.method;
  // Only the token standard's requests name the registrar.
  const hasRegistrar = query.registrar !== undefined && "registrarParty" in input.field;
  return {
    operation: `${parent.typeName}/${name}`,
    request: { ...(hasRegistrar && { registrarParty: query.registrar }), [contractFieldOf(rpc)]: query.contractId },
  };
}

export const warningMessage = ({
  instrument = "",
  contractId = "",
  party = "",
  operations,
  refusal,
  problem,
  help,
  count = 1,
  ...more
}: Warning): MessageInitShape<typeof WarningSchema> => ({
  ...more,
  instrument,
  contractId,
  party,
  operations: [...operations],
  status: refusal === undefined ? 0 : httpStatus(refusal),
  problem: problem.toWellFormed(),
  help: help.toWellFormed(),
  count,
});
