import type { DescMessage, Message } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { causesOf, RegistryError } from "../../domain/errors.js";
import type { Refusal } from "../../telemetry/refusals/refusal.js";
import type { RequestRecord } from "../../telemetry/request-record.js";

/** By the error that the client gets: the operation knows the message, and the sender of the error the request's record. */
const refusals = new WeakMap<ConnectError, Refusal>();

/** Remembers what was asked, if the rules of the registry refused it. Returns the error. */
export function noteRefusal(error: ConnectError, schema: DescMessage, request: Message): ConnectError {
  const { cause } = error;
  if (cause instanceof RegistryError) {
    const { reason, message } = cause;
    refusals.set(error, { reason, message, causes: causesOf(cause), schema, request });
  }
  return error;
}

/** Puts the refusal of a failed operation on the record of its request. Call it before the error is sent. */
export function recordRefusal(record: RequestRecord | undefined, error: unknown): void {
  if (record !== undefined && error instanceof ConnectError) record.refusal = refusals.get(error);
}
