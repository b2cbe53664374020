/** What docs/caching.md says, in the OpenAPI document. */
import type { DescMethod } from "@bufbuild/protobuf";
import type { JsonObject } from "../../src/domain/json.js";
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
  ETag: header("A digest of what the response says, the same on every replica."),
  "Offledger-Generation": header("The snapshot and the configuration. Offsets are comparable within one."),
  "Offledger-Offset": header("The offset on the ledger that the response rests on."),
  "Offledger-Record-Time": header("The record time of the ledger there. Absent if the source gave none."),
  "Offledger-Valid-Until": header("Until when the response holds by time alone. Absent if time does not change it."),
  "Offledger-Tags": header("The look-ups that the response rests on. Absent if a change of it cannot be watched."),
};

/** The response to a request whose client has the answer. */
export const notModified: JsonObject = {
  description: "The client has the response: its `If-None-Match` names the present `ETag`.",
  headers: { ...requestIdHeader, ...validatorHeaders },
};
