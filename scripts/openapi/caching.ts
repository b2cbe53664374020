/** What docs/caching.md says, in the OpenAPI document. */
import type { DescMethod } from "@bufbuild/protobuf";
import type { JsonObject } from "../../src/util/json.js";
import { requestIdHeader } from "./request-id.js";

/** Operations, and services, whose responses do not rest on the contracts of one state. */
const NOT_CACHEABLE: ReadonlySet<string> = new Set([
  "offledger.health.v1.HealthService",
  "offledger.operator.v0.OperatorService.GetOpenApiSpec",
  "offledger.transfer.v0.TransferService",
  "offledger.watch.v1.WatchService",
]);

export const isCacheable = ({ parent, name }: DescMethod): boolean =>
  !NOT_CACHEABLE.has(parent.typeName) && !NOT_CACHEABLE.has(`${parent.typeName}.${name}`);

const header = (description: string): JsonObject => ({ description, schema: { type: "string" } });

export const validatorHeaders: JsonObject = {
  "Offledger-Generation": header("The snapshot and the configuration. Offsets are comparable within one."),
  "Offledger-Offset": header("The offset on the ledger that the response rests on."),
  "Offledger-Record-Time": header("The record time of the ledger there. Absent if the source gave none."),
  ETag: header("If asked for: a digest of what the response says, the same on every replica."),
  "Offledger-Valid-Until": header(
    "If asked for: until when the response holds by time alone; absent if it always does.",
  ),
  "Offledger-Tags": header(
    "If asked for: the look-ups that the response rests on. Absent if a change of it cannot be watched.",
  ),
};

export const notModifiedHeader: JsonObject = {
  "Offledger-Not-Modified": header(
    "`true` if the client has the response: its `Offledger-If-None-Match` is the present `ETag`, and the body is `{}`.",
  ),
};

const condition = (name: string, effect: string): JsonObject => ({
  name,
  in: "header",
  required: false,
  description: `Asks for \`ETag\`, \`Offledger-Tags\` and \`Offledger-Valid-Until\`. ${effect}`,
  schema: { type: "string", pattern: '^(W/)?"[A-Za-z0-9_-]*"$' },
});

const ownCondition = condition(
  "Offledger-If-None-Match",
  'The `ETag` of a response that the client has, or `""`: if it is the present one, the response is `{}`, with `Offledger-Not-Modified`.',
);
const httpCondition = condition("If-None-Match", "If it is the present `ETag`, the response is 304.");

/** The parameters by which a request asks for the validators of its response. */
export const conditions = (isGet: boolean): readonly JsonObject[] =>
  isGet ? [ownCondition, httpCondition] : [ownCondition];

/** The response to a GET whose client has the answer. */
export const notModified: JsonObject = {
  description: "The client has the response: its `If-None-Match` names the present `ETag`.",
  headers: { ...requestIdHeader, ...validatorHeaders },
};
